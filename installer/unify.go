package installer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// maxUnifyRounds is the maximum number of walks to find versions that fit all calls.
// Another round is needed if a new version calls other modules than the previous one did.
// Real trees need two rounds.
const maxUnifyRounds = 10

// ConflictError says that no version of a source meets the constraints of all of its calls.
// It occurs only with Unify.
type ConflictError struct {
	// Source is the package or the repository, without credentials.
	Source string
	// Callers are the calls, in the order of their paths.
	Callers []Caller
	// Offered are the available versions, newest first.
	Offered []string
}

// Error says what each call requires, and what to do about it, in several lines.
func (e *ConflictError) Error() string {
	var b strings.Builder
	b.WriteString("Conflicting module version requirements\n\n")
	files := map[string]bool{}
	for _, c := range e.Callers {
		constraint := c.Constraint
		if constraint == "" {
			constraint = "of any number"
		}
		caller := "The root module"
		if above := c.Path[:max(len(c.Path)-1, 0)]; !above.IsRoot() {
			caller = fmt.Sprintf("Module %q", above)
		}
		fmt.Fprintf(&b, "%s requires module %q version %s (%s:%d)\n",
			caller, e.Source, constraint, c.Call.Range.Filename, c.Call.Range.Start.Line)
		files[c.Call.Range.Filename] = true
	}
	fmt.Fprintf(&b, "\nNo version of module %q satisfies all constraints", e.Source)
	if len(e.Offered) > 0 {
		fmt.Fprintf(&b, "; available versions: %s", strings.Join(e.Offered[:min(len(e.Offered), maxListed)], ", "))
	}
	b.WriteString(".\n\nTo resolve, update the version constraints in:")
	for _, file := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "\n  - %s", file)
	}
	return b.String()
}

// versionedCalls collects the calls that select versions, by source.
type versionedCalls struct {
	mu    sync.Mutex
	calls map[string][]*call
}

func newVersionedCalls() *versionedCalls { return &versionedCalls{calls: make(map[string][]*call)} }

// add records a call. It does nothing if v is nil.
func (v *versionedCalls) add(c *call) {
	if v == nil || !c.from.SelectsVersion() {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls[c.from.Versioned()] = append(v.calls[c.from.Versioned()], c)
}

// unify repeats look, which walks the tree without placing anything, until one version is
// found for all calls of each source. look returns the calls that it found, and a selector
// that lists their versions.
func unify(ctx context.Context, look func(context.Context, unified) (*versionedCalls, *selector, error)) (unified, error) {
	chosen := unified{}
	for range maxUnifyRounds {
		noted, s, err := look(ctx, chosen)
		if err != nil {
			return nil, err
		}
		next, err := s.chooseAll(ctx, noted.calls)
		if err != nil {
			return nil, err
		}
		if maps.Equal(next, chosen) {
			return chosen, nil
		}
		chosen = next
	}
	return nil, fmt.Errorf("no versions that suit all calls were found in %d attempts", maxUnifyRounds)
}

// chooseAll chooses a version for each source that was called.
func (s *selector) chooseAll(ctx context.Context, calls map[string][]*call) (unified, error) {
	chosen := unified{}
	var conflicts []error
	for _, source := range slices.Sorted(maps.Keys(calls)) {
		version, err := s.choose(ctx, calls[source])
		if err != nil {
			conflicts = append(conflicts, err)
		}
		chosen[source] = version
	}
	return chosen, join(conflicts...)
}

// choose chooses the version for the calls of one source: the highest locked or else installed
// version that all of them allow, or else the newest version that they all allow.
func (s *selector) choose(ctx context.Context, calls []*call) (versions.Version, error) {
	slices.SortFunc(calls, func(a, b *call) int { return strings.Compare(a.key(), b.key()) })
	all := func(v versions.Version) bool { return allAllow(calls, v) }
	if entry, ok := s.past.entry(ctx, calls, all); ok {
		return entry.Version, nil
	}
	offered, err := s.offered(ctx, calls[0])
	if err != nil {
		return versions.Version{}, err
	}
	offered, _ = s.byAge(calls[0], offered)
	suitable := slices.DeleteFunc(slices.Clone(offered), func(candidate versions.Candidate) bool { return !allAllow(calls, candidate.Version) })
	want := calls[0].from.Want
	for _, c := range calls {
		if !c.from.Want.IsZero() {
			want = c.from.Want
		}
	}
	var inUse []versions.Candidate
	for _, c := range calls {
		inUse = append(inUse, s.past.among(c, suitable)...)
	}
	selected, err := versions.Select(inUse, want)
	if err != nil {
		selected, err = versions.Select(suitable, want)
	}
	var none *versions.NoMatchError
	if errors.As(err, &none) {
		return versions.Version{}, conflict(calls, offered)
	}
	if err != nil {
		return versions.Version{}, calls[0].fail(err)
	}
	return selected.Version, nil
}

func allAllow(calls []*call, v versions.Version) bool {
	return !slices.ContainsFunc(calls, func(c *call) bool { return !c.from.Allows(v) })
}

func conflict(calls []*call, offered []versions.Candidate) error {
	e := &ConflictError{Source: addrs.Redact(calls[0].from.Versioned())}
	for _, c := range calls {
		e.Callers = append(e.Callers, *c.asCaller())
	}
	newest := slices.SortedFunc(slices.Values(offered), func(a, b versions.Candidate) int { return b.Version.Compare(a.Version) })
	for _, candidate := range newest {
		e.Offered = append(e.Offered, candidate.Version.String())
	}
	return e
}
