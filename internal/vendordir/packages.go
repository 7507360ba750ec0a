package vendordir

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/installed"
	"github.com/cotterpin/cotter/internal/store"
)

// Packages are the vendored packages that one run uses and replaces. A nil *Packages stands for a
// run without vendored packages.
type Packages struct {
	Dir *Dir
	// Rewrites reports whether all packages must match the lock after the run, which therefore
	// confirms their entries. Otherwise the run writes only the packages that it selects.
	Rewrites bool
	// Optional reports whether a package that does not match the lock may be taken from elsewhere,
	// because the run places nothing.
	Optional bool

	mu     sync.Mutex
	change *Change // nil until a package is staged
	// kinds are the staged changes by the keys of the calls.
	kinds map[string]Kind
}

// Kind is the kind of a change of a package.
type Kind int

// The kinds.
const (
	Added Kind = iota + 1
	Changed
	Removed
)

// UsesLocked reports whether packages that match the lock need no confirmation by an origin.
func (p *Packages) UsesLocked() bool { return p != nil && !p.Rewrites }

// Stage copies a call's package with the hash t1 from the cache to the stage of the directory.
// found is the status of the package that is there now. Stage returns the path and the tree of
// the copy.
func (p *Packages) Stage(ctx context.Context, cache *store.Modules, key string, t1 hashing.Hash, found installed.Status) (string, *store.Tree, error) {
	change, err := p.begin()
	if err != nil {
		return "", nil, err
	}
	path := change.Stage(key)
	tree, err := cache.CopyTo(ctx, path, t1, store.CopyOptions{ModesLost: !p.Dir.KeepsModes()})
	if err != nil {
		return "", nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kinds == nil {
		p.kinds = make(map[string]Kind)
	}
	if p.kinds[key] = Changed; found == installed.Missing {
		p.kinds[key] = Added
	}
	return path, tree, nil
}

func (p *Packages) begin() (change *Change, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.change == nil {
		p.change, err = p.Dir.Begin()
	}
	return p.change, err
}

// Close removes staged packages that were not committed.
func (p *Packages) Close() {
	if p != nil && p.change != nil {
		p.change.Close()
	}
}

// Plan is the planned change of a directory. A nil *Plan changes nothing.
type Plan struct {
	// Changes are sorted by key.
	Changes []PackageChange

	packages *Packages
	keep     []string
	sums     map[string][]byte
}

// PackageChange is a package that will be written or removed.
type PackageChange struct {
	// Key is the call's key, and Dir the package's directory, relative to the root module.
	Key, Dir string
	Kind     Kind
}

// Plan returns the change after which the directory has only the packages of these calls. It
// returns nil if nothing changes and Rewrites is not set.
func (p *Packages) Plan(keep []string, sums map[string][]byte) (*Plan, error) {
	removed, err := p.Dir.Removed(keep)
	if err != nil {
		return nil, err
	}
	plan := &Plan{packages: p, keep: keep, sums: sums}
	for key, kind := range p.kinds {
		plan.Changes = append(plan.Changes, PackageChange{key, p.Dir.PackageDir(key), kind})
	}
	for _, key := range removed {
		plan.Changes = append(plan.Changes, PackageChange{key, p.Dir.PackageDir(key), Removed})
	}
	slices.SortFunc(plan.Changes, func(a, b PackageChange) int { return strings.Compare(a.Key, b.Key) })
	if len(plan.Changes) == 0 && !p.Rewrites {
		return nil, nil
	}
	return plan, nil
}

// Commit makes the change and returns the function that undoes it.
func (p *Plan) Commit() (undo func() error, err error) {
	if p == nil {
		return func() error { return nil }, nil
	}
	change, err := p.packages.begin()
	if err != nil {
		return nil, err
	}
	return change.Undo, change.Commit(slices.Sorted(maps.Keys(p.packages.kinds)), p.keep, p.sums)
}
