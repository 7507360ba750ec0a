package cotter

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

// maxUnifyRounds bounds how often the tree is walked to find versions that fit
// all calls. Each round is caused by a version that calls other modules than
// the one before it did; real trees need two.
const maxUnifyRounds = 10

// ConflictError says that no version of a source meets the constraints of all
// calls of it, which a request with Unify asks for.
type ConflictError struct {
	// Source is the package, or the repository, without credentials.
	Source string
	// Callers are the calls in the order of their paths.
	Callers []Caller
	// Offered are the versions that there are, newest first.
	Offered []string
}

// Caller is a call that takes part in a conflict.
type Caller struct {
	// Path is the called module's path.
	Path addrs.Module
	// Call is the block, with the file and the line.
	Call ModuleCall
	// Constraint is what it asks for; "" for any version.
	Constraint string
}

func (e *ConflictError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Conflicting module version requirements\n\n")
	files := map[string]bool{}
	for _, c := range e.Callers {
		constraint := c.Constraint
		if constraint == "" {
			constraint = "of any number"
		}
		caller := "The root module"
		if above := c.Path[:len(c.Path)-1]; !above.IsRoot() {
			caller = fmt.Sprintf("Module %q", above)
		}
		fmt.Fprintf(&b, "%s requires module %q version %s (%s:%d)\n",
			caller, e.Source, constraint, c.Call.Range.Filename, c.Call.Range.Start.Line)
		files[c.Call.Range.Filename] = true
	}
	fmt.Fprintf(&b, "\nNo version of module %q satisfies all constraints", e.Source)
	if len(e.Offered) > 0 {
		fmt.Fprintf(&b, "; there are %s", strings.Join(e.Offered[:min(len(e.Offered), maxListed)], ", "))
	}
	b.WriteString(".\n\nTo resolve, update the version constraints in:")
	for _, file := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "\n  - %s", file)
	}
	return b.String()
}

// unifier finds one version for all calls of each source.
type unifier struct {
	mu    sync.Mutex
	calls map[string][]*node          // of this round, by source
	picks map[string]versions.Version // for the next round, and in the end
}

// note takes part of a call in what is chosen.
func (u *unifier) note(n *node) {
	if u == nil || u.calls == nil || !n.hasVersions() {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls[n.versioned()] = append(u.calls[n.versioned()], n)
}

// pick is the version that was chosen for all calls of a call's source.
func (u *unifier) pick(n *node) (versions.Version, bool) {
	if u == nil || !n.hasVersions() {
		return versions.Version{}, false
	}
	v, ok := u.picks[n.versioned()]
	return v, ok
}

// versioned is what the versions of a call are versions of. In a repository
// they may depend on the directory.
func (n *node) versioned() string {
	if source, ok := n.source.(addrs.ModuleSourceRegistry); ok {
		return source.Package.String()
	}
	return addrs.ModuleSourceRemote{Package: n.repository, Subdir: n.source.(addrs.ModuleSourceRemote).Subdir}.String()
}

// unify walks the tree, without placing anything, until one version is found
// for all calls of each source.
func (r *run) unify(ctx context.Context) (*unifier, error) {
	u := &unifier{picks: map[string]versions.Version{}}
	for range maxUnifyRounds {
		u.calls = map[string][]*node{}
		look := &run{
			in: r.in, req: r.req, rules: r.rules, dialect: r.dialect, events: r.events.ofFetches(), lockSrc: r.lockSrc,
			work: r.work, installed: r.installed, lock: r.lock, former: r.former, recorded: r.recorded,
			session: r.session, unifier: u, peek: true,
		}
		look.config = r.config
		if _, err := look.walk(ctx); err != nil {
			return nil, err
		}
		r.config = look.config
		picks, err := look.choose(ctx, u)
		if err != nil {
			return nil, err
		}
		if maps.Equal(picks, u.picks) {
			u.calls = nil
			return u, nil
		}
		u.picks = picks
	}
	return nil, fmt.Errorf("no versions that suit all calls were found in %d attempts", maxUnifyRounds)
}

// choose picks a version for each source that was called in this round.
func (r *run) choose(ctx context.Context, u *unifier) (map[string]versions.Version, error) {
	picks := map[string]versions.Version{}
	var conflicts []error
	for _, source := range slices.Sorted(maps.Keys(u.calls)) {
		pick, err := r.chooseFor(ctx, u.calls[source])
		if err != nil {
			conflicts = append(conflicts, err)
		}
		picks[source] = pick
	}
	return picks, errors.Join(conflicts...)
}

// chooseFor picks the version for calls of one source: a locked one that suits
// all of them, or the newest that does.
func (r *run) chooseFor(ctx context.Context, calls []*node) (versions.Version, error) {
	slices.SortFunc(calls, func(a, b *node) int { return compareKeys(a.path.String(), b.path.String()) })
	if locked, ok := r.lockedFor(calls); ok {
		return locked, nil
	}
	offered, err := r.offers(ctx, calls[0])
	if err != nil {
		return versions.Version{}, err
	}
	offered, _ = r.oldEnough(calls[0], offered)
	suits := func(c versions.Candidate) bool {
		return !slices.ContainsFunc(calls, func(n *node) bool { return !n.want.Allows(c.Version) })
	}
	suitable := slices.DeleteFunc(slices.Clone(offered), func(c versions.Candidate) bool { return !suits(c) })
	want := calls[0].want
	for _, n := range calls {
		if !n.want.IsZero() {
			want = n.want
		}
	}
	selected, err := versions.Select(suitable, want)
	var none *versions.NoMatchError
	if errors.As(err, &none) {
		return versions.Version{}, conflict(calls, offered)
	}
	if err != nil {
		return versions.Version{}, calls[0].fail(err)
	}
	return selected.Version, nil
}

// lockedFor is the highest version that the lock has for one of the calls and
// that suits all of them.
func (r *run) lockedFor(calls []*node) (best versions.Version, found bool) {
	for _, n := range calls {
		entry, locked := r.lock.Module(n.path.String())
		if !locked || r.req.upgrades(n.path.String()) || staleness(entry, n) != "" {
			continue
		}
		v, err := versions.Parse(entry.Version)
		if err != nil || slices.ContainsFunc(calls, func(other *node) bool { return !other.want.Allows(v) }) {
			continue
		}
		if !found || v.Compare(best) > 0 {
			best, found = v, true
		}
	}
	return best, found
}

func conflict(calls []*node, offered []versions.Candidate) error {
	e := &ConflictError{Source: addrs.Redact(calls[0].versioned())}
	for _, n := range calls {
		e.Callers = append(e.Callers, Caller{Path: n.path, Call: n.call, Constraint: n.want.String()})
	}
	newest := slices.SortedFunc(slices.Values(offered), func(a, b versions.Candidate) int { return b.Version.Compare(a.Version) })
	for _, c := range newest {
		e.Offered = append(e.Offered, c.Version.String())
	}
	return e
}
