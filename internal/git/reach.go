package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reachability says whether a commit is in the history of a branch or a tag.
type Reachability uint8

// The results. The zero value is ReachUnknown.
const (
	ReachUnknown Reachability = iota
	Reachable
	Unreachable
)

// Reach is the answer for one commit. The zero value is unknown.
type Reach struct {
	Result Reachability
	// Ref is a branch or tag that has the commit; "" if Result is not Reachable.
	Ref string
	// Err is the reason of ReachUnknown: a [*HistoryLimitError], [ErrIncompleteHistory] or [ErrNoHistory]. For
	// Unreachable it wraps [ErrRevisionNotFound] if the server says that it does not have the commit, and else is nil.
	Err error
}

var (
	// ErrIncompleteHistory is about a repository that is like a shallow clone.
	ErrIncompleteHistory = errors.New("the repository does not have its whole history")
	// ErrNoHistory means that the server does not send histories alone, as with the dumb HTTP protocol, or
	// that git does not accept the history.
	ErrNoHistory = errors.New("the history of the repository cannot be fetched")
)

type HistorySource interface {
	// Commits adds to h the commits in the history of the refs, as far as it is not in that of the commits in
	// stop. Without stop, only commits that the repository does not have may be missing. The error wraps ErrTooLarge or
	// ErrNoHistory.
	Commits(ctx context.Context, h *History, refs []Ref, stop []string) error
	// Lacks reports whether the server says that it does not have the commit, or does not send it.
	Lacks(ctx context.Context, id string) (bool, error)
}

// maxStops bounds the requests that each find some of the commits, before the whole history.
const maxStops = 4

// FindReach determines which commits are in the history of a branch or a tag; refs are all of the repository. If
// OnlyRef is set, only its ref is searched, and limits hold for it alone.
func FindReach(ctx context.Context, refs Refs, wanted []Want, limits HistoryLimits, source HistorySource) (map[string]Reach, error) {
	var anywhere []Want
	found := map[string]Reach{}
	for _, w := range wanted {
		if !w.OnlyRef {
			anywhere = append(anywhere, w)
			continue
		}
		inRef, err := findReach(ctx, refs.named(w.Ref), []Want{w}, limits, source)
		if err != nil {
			return nil, err
		}
		maps.Copy(found, inRef)
	}
	if len(anywhere) == 0 {
		return found, nil
	}
	others, err := findReach(ctx, refs, anywhere, limits, source)
	maps.Copy(others, found)
	return others, err
}

func findReach(ctx context.Context, refs Refs, wanted []Want, limits HistoryLimits, source HistorySource) (map[string]Reach, error) {
	s := newReachSearch(refs, wanted)
	s.history = NewHistory(limits)
	err := s.search(ctx, source)
	switch {
	case errors.Is(err, ErrTooLarge):
		err = &HistoryLimitError{limits}
	case err != nil && !errors.Is(err, ErrNoHistory):
		return nil, err
	}
	return s.end(ctx, source, err)
}

type reachSearch struct {
	tips     []tip // in the order in which they are searched
	named    []tip // those that the wanted commits name
	defaults []tip // the default branch; empty if it is not known
	history  *History
	found    map[string]Reach
	pending  []string // the commits that were not found so far
	// complete is set if the history of all tips was read.
	complete bool
}

func newReachSearch(refs Refs, wanted []Want) *reachSearch {
	s := &reachSearch{found: map[string]Reach{}}
	listed := refs.listed()
	for _, prefix := range []string{Heads, Tags} {
		for _, name := range slices.Sorted(maps.Keys(listed)) {
			if strings.HasPrefix(name, prefix) {
				s.tips = append(s.tips, tip{name, listed[name]})
			}
		}
	}
	if name := defaultBranch(refs, listed); name != "" {
		s.defaults = []tip{{name, listed[name]}}
	}
	for _, w := range wanted {
		named := s.defaults
		if chosen := listed.Choose(w.Ref); w.Ref != "" && chosen.Name != "" {
			named = []tip{{chosen.Name, chosen.Ref}}
		}
		at := tipOf(slices.Concat(named, s.defaults, s.tips), w.ID)
		switch {
		case at != "":
			s.found[w.ID] = Reach{Result: Reachable, Ref: at}
		case len(s.tips) > 0 && len(s.tips[0].ID) != len(w.ID):
			s.found[w.ID] = lacking(w.ID) // the repository uses the other hash
		default:
			s.named = append(s.named, named...)
			if !slices.Contains(s.pending, w.ID) {
				s.pending = append(s.pending, w.ID)
			}
		}
	}
	s.tips = slices.Concat(s.named, s.defaults, s.tips)
	return s
}

func (r Refs) listed() Refs {
	listed := Refs{}
	for name, ref := range r {
		if strings.HasPrefix(name, Heads) || strings.HasPrefix(name, Tags) {
			listed[name] = ref
		}
	}
	return listed
}

// named returns HEAD and what a name means; "" means the default branch.
func (r Refs) named(name string) Refs {
	listed := r.listed()
	only := Refs{}
	if head, ok := r[Head]; ok {
		only[Head] = head
	}
	chosen := defaultBranch(r, listed)
	if name != "" {
		chosen = listed.Choose(name).Name
	}
	if chosen != "" {
		only[chosen] = listed[chosen]
	}
	return only
}

func lacking(id string) Reach {
	return Reach{Result: Unreachable, Err: fmt.Errorf("%w: the repository does not have %s", ErrRevisionNotFound, id)}
}

// defaultBranch returns the branch with HEAD's commit, which several can have. Without HEAD a usual name is
// enough: the default branch is only searched first.
func defaultBranch(refs, listed Refs) string {
	head, known := refs[Head]
	is := func(name string) bool {
		ref, ok := listed[name]
		return ok && (!known || ref.Commit == head.Commit)
	}
	for _, usual := range [...]string{Heads + "main", Heads + "master"} {
		if is(usual) {
			return usual
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if known && strings.HasPrefix(name, Heads) && is(name) {
			return name
		}
	}
	return ""
}

func tipOf(tips []tip, commit string) string {
	i := slices.IndexFunc(tips, func(t tip) bool { return t.Commit == commit })
	if i < 0 {
		return ""
	}
	return tips[i].name
}

// search requests little: servers leave out what is in the history of the wanted commits, so a wanted one is the
// parent of a commit that was received. Only the whole history proves the absence of a commit.
func (s *reachSearch) search(ctx context.Context, source HistorySource) error {
	asked := map[string]bool{}
	for _, tips := range [][]tip{s.named, s.defaults, s.tips} {
		refs := distinct(tips, asked)
		for range maxStops {
			if len(s.pending) == 0 || len(refs) == 0 {
				break
			}
			err := source.Commits(ctx, s.history, refs, slices.Clone(s.pending))
			found := s.settle()
			if err != nil {
				return err
			}
			if !found {
				break
			}
		}
	}
	if s.settle(); len(s.pending) == 0 || s.complete {
		return nil
	}
	err := source.Commits(ctx, s.history, distinct(s.tips, map[string]bool{}), nil)
	s.settle()
	return err
}

// settle reports whether it found pending commits in what was read so far.
func (s *reachSearch) settle() bool {
	s.complete = true
	seen := map[string]bool{}
	for _, t := range s.tips {
		for stack := []string{t.Commit}; len(stack) > 0; {
			id := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[id] {
				continue
			}
			seen[id] = true
			if slices.Contains(s.pending, id) {
				s.found[id] = Reach{Result: Reachable, Ref: t.name} // a commit that names it was read
			}
			if !s.history.Has(id) {
				s.complete = false
			}
			stack = append(stack, s.history.parents[id]...)
		}
	}
	before := len(s.pending)
	s.pending = slices.DeleteFunc(s.pending, func(id string) bool { return s.found[id].Result == Reachable })
	return len(s.pending) < before
}

// end returns the answers. failed is why the history was not read to its end.
func (s *reachSearch) end(ctx context.Context, source HistorySource, failed error) (map[string]Reach, error) {
	for _, id := range s.pending {
		lacks, err := source.Lacks(ctx, id)
		switch {
		case err != nil:
			return nil, err
		case lacks:
			s.found[id] = lacking(id)
		case failed != nil:
			s.found[id] = Reach{Err: failed}
		case !s.complete:
			s.found[id] = Reach{Err: ErrIncompleteHistory}
		default:
			s.found[id] = Reach{Result: Unreachable}
		}
	}
	return s.found, nil
}

// distinct returns the refs whose objects are not in seen, and adds them.
func distinct(tips []tip, seen map[string]bool) []Ref {
	var refs []Ref
	for _, t := range tips {
		if !seen[t.ID] {
			seen[t.ID] = true
			refs = append(refs, t.Ref)
		}
	}
	return refs
}
