package vendordir

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/installed"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/pkgtree"
)

// Packages are the packages of a directory as one run uses and replaces them. nil stands
// for a run without such a directory.
type Packages struct {
	Dir *Dir
	// Rewrites says that all packages are to become what the lock says: the run confirms
	// their entries. Otherwise only packages that the run selects are written.
	Rewrites bool
	// Optional says that a package that is not what the lock says is taken from elsewhere,
	// because the run places nothing.
	Optional bool

	mu     sync.Mutex
	change *Change // nil as long as nothing was staged
	// kinds are the changes that are staged, by the calls' keys.
	kinds map[string]Kind
}

// Kind is what becomes of a package.
type Kind int

// The kinds.
const (
	Added Kind = iota
	Changed
	Removed
)

// UsesLocked reports whether packages that are what the lock says need no confirmation.
func (p *Packages) UsesLocked() bool { return p != nil && !p.Rewrites }

// Stage writes a call's package with a hash, which is not in the directory as it is to be,
// to the stage of the directory. found is what is there. It returns the path and the tree.
func (p *Packages) Stage(ctx context.Context, cache *pkgcache.Cache, key string, t1 hashing.Hash, found installed.Status) (string, *pkgtree.Tree, error) {
	change, err := p.begin()
	if err != nil {
		return "", nil, err
	}
	path := change.Stage(key)
	copied, err := cache.CopyTo(ctx, path, t1, pkgcache.CopyOptions{ModesLost: !p.Dir.KeepsModes()})
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
	return path, pkgtree.New(copied), nil
}

func (p *Packages) begin() (change *Change, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.change == nil {
		p.change, err = p.Dir.Begin()
	}
	return p.change, err
}

// Close removes what was staged and not committed.
func (p *Packages) Close() {
	if p != nil && p.change != nil {
		p.change.Close()
	}
}

// Plan is what a run is about to change in a directory. nil changes nothing.
type Plan struct {
	// Changes are sorted by key.
	Changes []PackageChange

	packages *Packages
	keep     []string
	sums     map[string][]byte
}

// PackageChange is a package that is to be written or removed.
type PackageChange struct {
	// Key is the call's key, and Dir the package's directory, relative to the root module.
	Key, Dir string
	Kind     Kind
}

// Plan plans to have only the packages of these calls in the directory.
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

// Commit makes the change of the directory, and returns the function that undoes it.
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
