package cotter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/installed"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/vendordir"
	"github.com/cotterpin/cotter/lockfile"
)

// A project may keep its packages in its own repository, in the directory Request.Vendor.
// Runs use them there if they are what the lock says, and ask no origin: files that
// are committed are trusted like local modules, of which they differ by nothing but the
// lock that says where they are from. That confirms no entry to runs without Vendor.

// ErrNoVendor says that a request with WriteVendor names no directory.
var ErrNoVendor = errors.New("the project has no directory for vendored packages")

// VendorError is a package in Request.Vendor that is not what the lock says.
type VendorError struct {
	// Key is the path of the module call, with dots.
	Key string
	// Dir is the package's directory, relative to the root module's, with slashes.
	Dir string
	// Missing says that it does not exist.
	Missing bool
	// Want are the lock's hashes, Got those of the files, of the same schemes.
	Want, Got []hashing.Hash
	// Changes tells the files apart, by paths in Dir. It is empty if the sums of the
	// locked files are not in Request.Vendor: if the lock has another package, say.
	Changes hashing.Changes
	// Err is why the files could not be read, if they could not.
	Err error
}

func (e *VendorError) Error() string {
	if e.Missing {
		return fmt.Sprintf("the vendored package %s does not exist", e.Dir)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the vendored package %s is not what the lock says", e.Dir)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %s", e.Err)
	}
	changes := changesBelow(e.Dir, e.Changes)
	if changes.Empty() && len(e.Want) > 0 {
		fmt.Fprintf(&b, "\n  expected: %s\n  got:      %s", e.Want[0], e.Got[0])
	}
	writeChanges(&b, changes)
	return b.String()
}

func (e *VendorError) Unwrap() error { return e.Err }

// changesBelow returns changes by paths that begin with a directory.
func changesBelow(dir string, changes hashing.Changes) hashing.Changes {
	below := func(names []string) []string {
		var paths []string
		for _, name := range names {
			paths = append(paths, path.Join(dir, name))
		}
		return paths
	}
	return hashing.Changes{Changed: below(changes.Changed), Vanished: below(changes.Vanished), Added: below(changes.Added)}
}

// VendorChange is a package that a run has written to Request.Vendor, or removed there.
type VendorChange struct {
	// Key is the path of the module call, with dots.
	Key string
	// Dir is the package's directory, relative to the root module's, with slashes.
	Dir string
	// Kind says what became of the package.
	Kind VendorChangeKind
}

// VendorChangeKind is what became of a vendored package.
type VendorChangeKind int

// The kinds of changes.
const (
	VendorAdded VendorChangeKind = iota
	VendorChanged
	VendorRemoved
)

// String is the kind in one word.
func (k VendorChangeKind) String() string { return [...]string{"added", "changed", "removed"}[k] }

// vendored are the packages in Request.Vendor, for the placer of a run. nil stands for a
// run without.
type vendored struct {
	dir *vendordir.Dir
	// rewrites says that all packages are to become what the lock says: the run confirms
	// their entries. Otherwise only packages that the run selects are written.
	rewrites bool
	// falls says that a package that is not what the lock says is taken from elsewhere,
	// because the run places nothing.
	falls bool

	mu     sync.Mutex
	change *vendordir.Change // nil as long as nothing was staged
	// kinds are the changes that are staged, by the calls' keys.
	kinds map[string]VendorChangeKind
}

func newVendored(p *openProject) *vendored {
	if p.vendor == nil {
		return nil
	}
	return &vendored{dir: p.vendor, rewrites: p.req.WriteVendor, falls: p.req.LockOnly, kinds: make(map[string]VendorChangeKind)}
}

// usesLocked reports whether packages that are what the lock says need no confirmation.
func (v *vendored) usesLocked() bool { return v != nil && !v.rewrites }

// placeVendored returns the placement of an entry whose package is vendored; nil if it
// is to be placed like others. confirmed says whether an origin has confirmed it.
func (p *placer) placeVendored(ctx context.Context, entry lockfile.Module, confirmed bool) (*placement, error) {
	if !p.vendored.usesLocked() {
		return nil, nil
	}
	done, err := p.Slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	found := p.vendored.dir.Inspect(entry)
	if found.Status == installed.Verified {
		placed := p.vendoredPlacement(entry, found)
		placed.unconfirmed = !confirmed
		return placed, nil
	}
	if p.vendored.falls {
		return nil, nil
	}
	return nil, &VendorError{
		Key: entry.Key, Dir: p.vendored.dir.PackageDir(entry.Key), Missing: found.Status == installed.Missing,
		Want: found.Want, Got: found.Got, Changes: found.Changes, Err: found.Err,
	}
}

func (p *placer) vendoredPlacement(entry lockfile.Module, found installed.Report) *placement {
	placed := p.newPlacement(entry, found.Tree)
	placed.currentPath = p.vendored.dir.PackagePath(entry.Key)
	return placed
}

// stageVendored gives a call the package with a hash, as it is in the directory or as it
// becomes.
func (p *placer) stageVendored(ctx context.Context, entry lockfile.Module, t1 hashing.Hash) (*placement, error) {
	done, err := p.Slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	found := p.vendored.dir.Inspect(entry)
	if found.Status == installed.Verified {
		return p.vendoredPlacement(entry, found), nil
	}
	kind := VendorChanged
	if found.Status == installed.Missing {
		kind = VendorAdded
	}
	placed := p.newPlacement(entry, nil)
	placed.currentPath, placed.tree, err = p.vendored.stage(ctx, p.Cache, entry.Key, t1, kind)
	return placed, err
}

// stage writes a package to the stage of the directory and returns its path.
func (v *vendored) stage(ctx context.Context, cache *pkgcache.Cache, key string, t1 hashing.Hash, kind VendorChangeKind) (string, *pkgtree.Tree, error) {
	change, err := v.begin()
	if err != nil {
		return "", nil, err
	}
	path := change.Stage(key)
	copied, err := cache.CopyTo(ctx, path, t1, pkgcache.CopyOptions{ModesLost: !v.dir.KeepsModes()})
	if err != nil {
		return "", nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kinds[key] = kind
	return path, pkgtree.New(copied), nil
}

func (v *vendored) begin() (change *vendordir.Change, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.change == nil {
		v.change, err = v.dir.Begin()
	}
	return v.change, err
}

// close removes what was staged and not committed.
func (v *vendored) close() {
	if v != nil && v.change != nil {
		v.change.Close()
	}
}

// vendorPlan is what a run is about to change in Request.Vendor. nil changes nothing.
type vendorPlan struct {
	vendored *vendored
	keep     []string
	sums     map[string][]byte
	changes  []VendorChange
}

// plan plans to have only the packages of these calls in the directory. A run that may
// not change the lock leaves packages without an entry alone, unless it rewrites all.
func (v *vendored) plan(req Request, keep []string, sums map[string][]byte) (*vendorPlan, error) {
	if v == nil || !req.places() || req.Locked && !v.rewrites {
		return nil, nil
	}
	p := &vendorPlan{vendored: v, keep: keep, sums: sums}
	removed, err := v.dir.Removed(keep)
	if err != nil {
		return nil, err
	}
	for key, kind := range v.kinds {
		p.changes = append(p.changes, VendorChange{key, v.dir.PackageDir(key), kind})
	}
	for _, key := range removed {
		p.changes = append(p.changes, VendorChange{key, v.dir.PackageDir(key), VendorRemoved})
	}
	slices.SortFunc(p.changes, func(a, b VendorChange) int { return compareKeys(a.Key, b.Key) })
	if len(p.changes) == 0 && !v.rewrites {
		return nil, nil
	}
	return p, nil
}

// commit makes the change of the directory, and returns the function that undoes it.
func (p *vendorPlan) commit() (undo func() error, err error) {
	if p == nil {
		return func() error { return nil }, nil
	}
	change, err := p.vendored.begin()
	if err != nil {
		return nil, err
	}
	return change.Undo, change.Commit(slices.Sorted(maps.Keys(p.vendored.kinds)), p.keep, p.sums)
}

// newVendorDir returns the directory of a request; nil if it names none.
func newVendorDir(req Request) (*vendordir.Dir, error) {
	if req.Vendor == "" {
		return nil, nil
	}
	return vendordir.Open(req.dir(), req.Vendor, req.dataPath())
}

// inspect compares the package of an entry, wherever the project has its packages.
func (p *openProject) inspect(entry lockfile.Module) installed.Report {
	if p.vendor != nil {
		return p.vendor.Inspect(entry)
	}
	return p.installed.Inspect(entry)
}

// lockedTree returns the tree from which an entry was made; nil if it is not known.
func (p *openProject) lockedTree(entry lockfile.Module) *pkgtree.Tree {
	tree := p.installed.LockedTree(entry)
	if tree == nil && p.vendor != nil {
		tree = p.vendor.LockedTree(entry)
	}
	return tree
}

// packagePath is where this process finds the package of a call.
func (p *openProject) packagePath(key string) string {
	if p.vendor != nil {
		return p.vendor.PackagePath(key)
	}
	return filepath.Join(p.req.dataPath(), "modules", key)
}

// vendoredDir is the directory of a call's vendored package, relative to the root
// module's; "" if the project has none.
func (p *openProject) vendoredDir(key string) string {
	if p.vendor == nil {
		return ""
	}
	return p.vendor.PackageDir(key)
}

// unlockedVendored are the names of the directories beside vendored packages that the
// lock has no entry for.
func (p *openProject) unlockedVendored() []string {
	if p.vendor == nil {
		return nil
	}
	return slices.DeleteFunc(p.vendor.Keys(), func(key string) bool {
		_, locked := p.lock.Module(key)
		return locked
	})
}

// vendoredPart returns the path of a directory in modules.json below that of the vendored
// packages; ok is false if it is elsewhere.
func (p *openProject) vendoredPart(dir string) (part string, ok bool) {
	if p.vendor == nil {
		return "", false
	}
	dir = path.Clean(dir)
	return strings.TrimPrefix(dir, p.vendor.Name()), pathsafe.Within(dir, p.vendor.Name())
}

// recordedPath is the path at which this process finds a directory in modules.json.
func (p *openProject) recordedPath(dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	if part, ok := p.vendoredPart(dir); ok {
		return filepath.Join(p.vendor.Path(), filepath.FromSlash(part))
	}
	return filepath.Join(p.paths.dir, filepath.FromSlash(dir))
}

// boundaryOf returns the directory that links in a recorded module may not leave.
func (p *openProject) boundaryOf(dir string) string {
	if _, ok := p.vendoredPart(dir); ok {
		return p.vendor.Path()
	}
	return p.req.dataPath()
}
