package getmodules_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/git/gittest"
	"github.com/cotterpin/cotter/internal/testenv"
)

// reachRepo is a repository whose commits have names.
type reachRepo struct {
	*gitRepo
	id map[string]string
	// date is the date of the next commit, in seconds since 1970.
	date int64
}

func newReachRepo(t testing.TB, root, name string, initArgs ...string) *reachRepo {
	t.Helper()
	return &reachRepo{gitRepo: newGitRepo(t, root, name, initArgs...), id: map[string]string{}, date: 1_700_000_000}
}

// add writes a commit with the named parents. It is 30 days newer than the one before.
func (r *reachRepo) add(name string, parents ...string) string {
	r.t.Helper()
	c := gittest.Commit{
		Tree:    r.made(r.fixture().Tree(gittest.File{Path: "main.tf", Content: []byte("# " + name + "\n")})),
		By:      fmt.Sprintf("a <a@example.com> %d +0000", r.date),
		Message: name + "\n",
	}
	for _, parent := range parents {
		c.Parents = append(c.Parents, r.id[parent])
	}
	r.date += 30 * 24 * 60 * 60
	r.id[name] = r.made(r.fixture().Commit(c))
	return r.id[name]
}

// ref points a ref to a named commit.
func (r *reachRepo) ref(ref, commit string) { r.setRef(ref, r.id[commit]) }

// reachWorld fills a repository with refs of every kind.
//
//	m0 - m1 - m2 - m3 - m4 - m5   main; v1.0.0 is m3, v2.0.0 an annotated tag of m3
//	      \    \       /
//	       s0 --\---- s1          merged in m4
//	             r0 - r1          release
//	l0 - l1                       only v0.0.1, an annotated tag
//
// All other commits are descendants of m2 that no branch or tag has.
func reachWorld(t testing.TB, root, name string, initArgs ...string) *reachRepo {
	t.Helper()
	r := newReachRepo(t, root, name, initArgs...)
	r.add("m0")
	r.add("m1", "m0")
	r.add("s0", "m1")
	r.add("m2", "m1")
	r.add("r0", "m2")
	r.add("s1", "s0")
	r.add("m3", "m2")
	r.add("m4", "m3", "s1")
	r.add("r1", "r0")
	r.add("m5", "m4")
	r.add("l0")
	r.add("l1", "l0")
	r.ref("refs/heads/main", "m5")
	r.ref("refs/heads/release", "r1")
	r.ref("refs/tags/v1.0.0", "m3")
	r.annotate("v2.0.0", r.id["m3"])
	r.annotateTag("twice", "v2.0.0")
	r.annotate("v0.0.1", r.id["l1"])
	r.made(r.fixture().Tag(gittest.Tag{Name: "key", Object: r.blob("key"), Kind: "blob", By: gitBy, Message: "x\n"}))
	r.setRef("refs/tags/tree", r.made(r.fixture().Tree(gittest.File{Path: "x", Content: []byte("x")})))
	for name, ref := range map[string]string{
		"forced": "", "pull": "refs/pull/1/head", "note": "refs/notes/commits", "change": "refs/changes/01/1/1", "odd": "refs/odd",
	} {
		r.add(name, "m2")
		if ref != "" {
			r.ref(ref, name)
		}
	}
	return r
}

// line adds n commits to main, and returns their names, the oldest first.
func (r *reachRepo) line(n int) []string {
	r.t.Helper()
	var history strings.Builder
	for i := range n {
		fmt.Fprintf(&history, "commit refs/heads/main\ncommitter a <a@example.com> %d +0000\ndata 3\nabc\nM 100644 inline main.tf\ndata 5\n%05d\n", r.date+int64(i)*3600, i)
	}
	r.git(history.String(), "fast-import", "--quiet")
	return strings.Fields(r.git("", "rev-list", "--reverse", "refs/heads/main"))
}

// reachCases are the commits of reachWorld and the expected answers.
var reachCases = map[string]struct {
	commit, ref string
	want        getmodules.Reachability
	by          string
}{
	"tip of the branch":             {"m5", "main", getmodules.Reachable, "refs/heads/main"},
	"branch moved on":               {"m2", "main", getmodules.Reachable, "refs/heads/main"},
	"HEAD moved on":                 {"m4", "", getmodules.Reachable, "refs/heads/main"},
	"root":                          {"m0", "main", getmodules.Reachable, "refs/heads/main"},
	"second parent":                 {"s0", "main", getmodules.Reachable, "refs/heads/main"},
	"tag moved on":                  {"m1", "v1.0.0", getmodules.Reachable, "refs/tags/v1.0.0"},
	"tag moved back":                {"m4", "v1.0.0", getmodules.Reachable, "refs/heads/main"},
	"tag moved to another branch":   {"r0", "v1.0.0", getmodules.Reachable, "refs/heads/release"},
	"tag deleted":                   {"r0", "v1.1.0", getmodules.Reachable, "refs/heads/release"},
	"annotated tag":                 {"m3", "v2.0.0", getmodules.Reachable, "refs/tags/v2.0.0"},
	"annotated tag of a tag":        {"m3", "twice", getmodules.Reachable, "refs/tags/twice"},
	"only below an annotated tag":   {"l0", "main", getmodules.Reachable, "refs/tags/v0.0.1"},
	"only at an annotated tag":      {"l1", "", getmodules.Reachable, "refs/tags/v0.0.1"},
	"force-pushed away":             {"forced", "main", getmodules.Unreachable, ""},
	"forged for a tag":              {"pull", "v1.0.0", getmodules.Unreachable, ""},
	"pull request":                  {"pull", "refs/pull/1/head", getmodules.Unreachable, ""},
	"notes":                         {"note", "main", getmodules.Unreachable, ""},
	"change":                        {"change", "main", getmodules.Unreachable, ""},
	"ref outside heads and tags":    {"odd", "odd", getmodules.Unreachable, ""},
	"commit the server lacks":       {"none", "main", getmodules.Unreachable, ""},
	"ref has a name of another one": {"m2", "refs/heads/release", getmodules.Reachable, "refs/heads/release"},
}

// reachSingly searches for each commit of reachCases on its own.
func reachSingly(t *testing.T, f *getmodules.Fetcher, r *reachRepo, address string) {
	t.Helper()
	for name, tt := range reachCases {
		req := getmodules.Request{Package: addrs.ParseModulePackage(address), Revision: r.id[tt.commit]}
		if tt.ref != "" {
			req.Package = addrs.ParseModulePackage(address + "?ref=" + tt.ref)
		}
		got, err := f.Reachable(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkReach(t, name, got[req.Revision], tt.want, tt.by)
	}
}

// reachTogether searches for all commits of reachCases at once. Some of them are in several
// refs. lacks is set if the server says what it lacks.
func reachTogether(t *testing.T, f *getmodules.Fetcher, r *reachRepo, address string, lacks bool) {
	t.Helper()
	var all []getmodules.LockedCommit
	for _, tt := range reachCases {
		all = append(all, getmodules.LockedCommit{Revision: r.id[tt.commit], Ref: tt.ref})
	}
	found, err := f.Reachable(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(address)}, all...)
	testenv.Must(t, err)
	for name, tt := range reachCases {
		got := found[r.id[tt.commit]]
		if got.Result != tt.want || (got.Ref == "") != (tt.by == "") {
			t.Errorf("together: %s: %v by %q (%v), want %v", name, got.Result, got.Ref, got.Err, tt.want)
		}
		missing := errors.Is(got.Err, getmodules.ErrRevisionNotFound)
		// A server that sends only what a ref has lacks "forced" as well.
		if missing != (tt.commit == "none") && (lacks || missing && tt.commit != "forced") {
			t.Errorf("together: %s: ErrRevisionNotFound is %v (%v)", name, missing, got.Err)
		}
	}
}

// wantReach searches for one commit and checks the answer: by is the ref that has it, if it is reachable, and reason
// is wrapped by the error, if it is unknown.
func wantReach(t *testing.T, name string, f *getmodules.Fetcher, address addrs.ModulePackage, id string, want getmodules.Reachability, by string, reason error) {
	t.Helper()
	got, err := f.Reachable(t.Context(), getmodules.Request{Package: address, Revision: id})
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	checkReach(t, name, got[id], want, by)
	if want == getmodules.ReachUnknown && !errors.Is(got[id].Err, reason) {
		t.Errorf("%s: %v, want %v", name, got[id].Err, reason)
	}
}

func checkReach(t *testing.T, name string, got getmodules.Reach, want getmodules.Reachability, by string) {
	t.Helper()
	if got.Result != want || got.Ref != by {
		t.Errorf("%s: %v by %q (%v), want %v by %q", name, got.Result, got.Ref, got.Err, want, by)
	}
}
