package installer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// maxUnifyRounds limits the walks to find versions that fit all calls. Another round is needed if a new version
// calls other modules than the previous one. Real trees need two.
const maxUnifyRounds = 10

// ConflictError says that no version of a source meets the constraints of all of its calls; see InstallOptions.
type ConflictError struct {
	Source  string // the package or the repository, without credentials
	Callers []Caller
	Offered []string // the available versions, newest first
}

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
		if above := c.Call.Caller(c.Path); !above.IsRoot() {
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

// unify repeats look, which walks the tree without placing anything, until one version is found for all calls
// of each source. look returns the calls, sorted by path, and a selector for their versions.
func unify(ctx context.Context, look func(context.Context, unified) ([]*call, *selector, error)) (unified, error) {
	chosen := unified{}
	for range maxUnifyRounds {
		calls, s, err := look(ctx, chosen)
		if err != nil {
			return nil, err
		}
		next, err := s.chooseAll(ctx, calls)
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

func (s *selector) chooseAll(ctx context.Context, calls []*call) (unified, error) {
	chosen, bySource := unified{}, make(map[string][]*call)
	for _, c := range calls {
		if c.From.Address != nil && c.From.SelectsVersion() {
			bySource[c.From.Versioned()] = append(bySource[c.From.Versioned()], c)
		}
	}
	var conflicts []error
	for _, source := range slices.Sorted(maps.Keys(bySource)) {
		version, err := s.choose(ctx, bySource[source])
		if err != nil {
			conflicts = append(conflicts, err)
		}
		chosen[source] = version
	}
	return chosen, join(conflicts...)
}

// choose returns the highest locked or else installed version that all calls of a source allow, or else the
// newest.
func (s *selector) choose(ctx context.Context, calls []*call) (versions.Version, error) {
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
	want := calls[0].From.Want
	for _, c := range calls {
		if !c.From.Want.IsZero() {
			want = c.From.Want
		}
	}
	var inUse []versions.Candidate
	for _, c := range calls {
		known, _ := s.past.among(c, suitable)
		inUse = append(inUse, known...)
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
		return versions.Version{}, calls[0].Fail(err)
	}
	return selected.Version, nil
}

func allAllow(calls []*call, v versions.Version) bool {
	return !slices.ContainsFunc(calls, func(c *call) bool { return !c.From.Allows(v) })
}

func conflict(calls []*call, offered []versions.Candidate) error {
	e := &ConflictError{Source: addrs.Redact(calls[0].From.Versioned())}
	for _, c := range calls {
		e.Callers = append(e.Callers, *asCaller(c))
	}
	newest := slices.SortedFunc(slices.Values(offered), func(a, b versions.Candidate) int { return b.Version.Compare(a.Version) })
	for _, candidate := range newest {
		e.Offered = append(e.Offered, candidate.Version.String())
	}
	return e
}
