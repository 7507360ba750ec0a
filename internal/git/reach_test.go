package git_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git"
)

// fakeHistory is a server's history. Like a server, it leaves out the history of commits that
// the client wants to stop at.
type fakeHistory struct {
	parents map[string][]string
	lacks   []string
	fail    error
	asked   [][]string // the stops of the requests
}

func (f *fakeHistory) Commits(_ context.Context, h *git.History, refs []git.Ref, stop []string) error {
	f.asked = append(f.asked, stop)
	if f.fail != nil {
		return f.fail
	}
	below := map[string]bool{}
	for queue := slices.Clone(stop); len(queue) > 0; queue = queue[1:] {
		below[queue[0]] = true
		queue = append(queue, f.parents[queue[0]]...)
	}
	_, err := h.Collect(refs, nil, func(id string) ([]byte, error) {
		parents, ok := f.parents[id]
		if !ok || below[id] {
			return nil, nil
		}
		return commitOf(parents...), nil
	})
	return err
}

func (f *fakeHistory) Lacks(_ context.Context, id string) (bool, error) {
	return slices.Contains(f.lacks, id), nil
}

// errBroken is an error that says nothing about a history.
var errBroken = errors.New("broken")

func TestFindReach(t *testing.T) {
	t.Parallel()
	a, b, c, d, x := objectID("a"), objectID("b"), objectID("c"), objectID("d"), objectID("1")
	to := func(id string) git.Ref { return git.Ref{ID: id, Commit: id} }
	// a is the tip of main, d the root. x is a child of b that no branch has.
	whole := map[string][]string{a: {b}, b: {c}, c: {d}, d: nil, x: {b}}
	shallow := map[string][]string{a: {b}, b: {c}, x: {b}}
	refs := git.Refs{"HEAD": to(a), "refs/heads/main": to(a), "refs/heads/old": to(c), "refs/pull/1/head": to(x)}
	reachable := func(ref string) git.Reach { return git.Reach{Result: git.Reachable, Ref: ref} }
	for name, tt := range map[string]struct {
		refs   git.Refs
		server fakeHistory
		limit  int // 0 means no limit
		wanted []git.Want
		want   map[string]git.Reach // without Err
		err    error                // of the first wanted commit
		asked  int
	}{
		"a tip":               {refs, fakeHistory{fail: errBroken}, 0, []git.Want{{ID: a, Ref: "main"}}, map[string]git.Reach{a: reachable("refs/heads/main")}, nil, 0},
		"named":               {refs, fakeHistory{parents: whole}, 0, []git.Want{{ID: d, Ref: "old"}}, map[string]git.Reach{d: reachable("refs/heads/old")}, nil, 1},
		"HEAD":                {refs, fakeHistory{parents: whole}, 0, []git.Want{{ID: b}}, map[string]git.Reach{b: reachable("refs/heads/main")}, nil, 1},
		"only in another ref": {refs, fakeHistory{parents: whole}, 0, []git.Want{{ID: b, Ref: "old", OnlyRef: true}}, map[string]git.Reach{b: {Result: git.Unreachable}}, nil, 2},
		"also the tip of another ref": {
			refs, fakeHistory{parents: whole}, 0,
			[]git.Want{{ID: c, Ref: "main", OnlyRef: true}, {ID: d, OnlyRef: true}, {ID: b}},
			map[string]git.Reach{b: reachable("refs/heads/main"), c: reachable("refs/heads/main"), d: reachable("refs/heads/main")}, nil, 3,
		},
		"only in a ref that is gone": {refs, fakeHistory{parents: whole}, 0, []git.Want{{ID: b, Ref: "gone", OnlyRef: true}}, map[string]git.Reach{b: {Result: git.Unreachable}}, nil, 0},
		"one below the other": {
			refs, fakeHistory{parents: whole}, 0,
			[]git.Want{{ID: d, Ref: "main"}, {ID: b, Ref: "main"}, {ID: d}},
			map[string]git.Reach{b: reachable("refs/heads/main"), d: reachable("refs/heads/main")}, nil, 2,
		},
		"forged":         {refs, fakeHistory{parents: whole}, 0, []git.Want{{ID: x, Ref: "refs/pull/1/head"}}, map[string]git.Reach{x: {Result: git.Unreachable}}, nil, 3},
		"lacking":        {refs, fakeHistory{parents: whole, lacks: []string{x}}, 0, []git.Want{{ID: x}}, map[string]git.Reach{x: {Result: git.Unreachable}}, git.ErrRevisionNotFound, 3},
		"shallow":        {refs, fakeHistory{parents: shallow}, 0, []git.Want{{ID: x}, {ID: c}, {ID: b}}, map[string]git.Reach{x: {}, c: reachable("refs/heads/old"), b: reachable("refs/heads/main")}, git.ErrIncompleteHistory, 4},
		"limit":          {refs, fakeHistory{parents: whole}, 3, []git.Want{{ID: x}}, map[string]git.Reach{x: {}}, git.ErrTooLarge, 3},
		"limit kept":     {refs, fakeHistory{parents: whole}, 4, []git.Want{{ID: x}}, map[string]git.Reach{x: {Result: git.Unreachable}}, nil, 3},
		"no history":     {refs, fakeHistory{fail: git.ErrNoHistory}, 0, []git.Want{{ID: x}, {ID: a}}, map[string]git.Reach{x: {}, a: reachable("refs/heads/main")}, git.ErrNoHistory, 1},
		"no tips":        {git.Refs{"refs/pull/1/head": to(x)}, fakeHistory{fail: errBroken}, 0, []git.Want{{ID: x}}, map[string]git.Reach{x: {Result: git.Unreachable}}, nil, 0},
		"detached HEAD":  {git.Refs{"HEAD": to(x), "refs/heads/main": to(a)}, fakeHistory{parents: whole}, 0, []git.Want{{ID: x}}, map[string]git.Reach{x: {Result: git.Unreachable}}, nil, 2},
		"another hash":   {refs, fakeHistory{parents: whole}, 0, []git.Want{{ID: x + x[:24]}}, map[string]git.Reach{x + x[:24]: {Result: git.Unreachable}}, git.ErrRevisionNotFound, 0},
		"nothing wanted": {refs, fakeHistory{fail: errBroken}, 0, nil, map[string]git.Reach{}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := git.HistoryLimits{Commits: 1000, Bytes: 1}
			if tt.limit > 0 {
				limits.Commits = tt.limit
			}
			got, err := git.FindReach(t.Context(), tt.refs, tt.wanted, limits, &tt.server)
			if err != nil {
				t.Fatal(err)
			}
			if len(tt.wanted) > 0 && !errors.Is(got[tt.wanted[0].ID].Err, tt.err) {
				t.Errorf("Err = %v, want %v", got[tt.wanted[0].ID].Err, tt.err)
			}
			for id, reach := range got {
				if (reach.Result == git.ReachUnknown) && reach.Err == nil || reach.Result == git.Reachable && reach.Err != nil {
					t.Errorf("%s: %v with the error %v", id, reach.Result, reach.Err)
				}
				reach.Err = nil
				got[id] = reach
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("FindReach (-want +got):\n%s", diff)
			}
			if len(tt.server.asked) != tt.asked {
				t.Errorf("requests with the stops %q, want %d", tt.server.asked, tt.asked)
			}
		})
	}
	if _, err := git.FindReach(t.Context(), refs, []git.Want{{ID: x}}, git.HistoryLimits{Commits: 9, Bytes: 9}, &fakeHistory{fail: errBroken}); !errors.Is(err, errBroken) {
		t.Errorf("FindReach = %v, want the error of the request", err)
	}
	if (git.Reach{}).Result != git.ReachUnknown {
		t.Error("the zero value of Reach is not unknown")
	}
}
