package packagedir

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store"
)

// VendorStage are the vendored packages that one run uses and replaces. It is safe for concurrent
// use. A nil *VendorStage stands for a run without vendored packages.
type VendorStage struct {
	Project *project.Project
	Dir     *project.VendorDir
	Cache   *store.Modules
	// OnlyCompares reports whether a package that does not match the lock is an error. Otherwise the
	// run writes it again.
	OnlyCompares bool

	mu sync.Mutex
	// kinds are the staged changes by the keys of the calls.
	kinds map[string]VendorKind
}

// VendorKind is the kind of a change of a vendored package.
type VendorKind string

// The kinds.
const (
	VendorAdded   VendorKind = "added"
	VendorChanged VendorKind = "changed"
	VendorRemoved VendorKind = "removed"
)

// Stage copies a call's package with the hash t1 from the cache to the stage of the directory. found
// is the status of the package that is there now.
func (v *VendorStage) Stage(ctx context.Context, key string, t1 hashing.Hash, found Status) (string, *store.Tree, error) {
	path, err := v.Project.StageVendored(key)
	if err != nil {
		return "", nil, err
	}
	copied, err := v.Cache.CopyTo(ctx, path, t1, !v.Dir.KeepsModes())
	if err != nil {
		return "", nil, err
	}
	v.Note(key, found)
	return path, copied, nil
}

// Note notes that a call's package changes. found is the status of the package that is there now.
func (v *VendorStage) Note(key string, found Status) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.kinds == nil {
		v.kinds = make(map[string]VendorKind)
	}
	if v.kinds[key] = VendorChanged; found == Missing {
		v.kinds[key] = VendorAdded
	}
}

// PackageChange is a vendored package that will be written or removed.
type PackageChange struct {
	// Key is the call's key, and Dir the package's directory, relative to the root module.
	Key, Dir string
	Kind     VendorKind
}

// Plan returns the change after which the directory has only the packages of these calls, and a
// description of it that is sorted by key. The change is nil if there are no packages at all.
func (v *VendorStage) Plan(keep []string, sums map[string][]byte) (*project.VendorChange, []PackageChange, error) {
	removed, err := v.Dir.Removed(keep)
	if err != nil {
		return nil, nil, err
	}
	change := &project.VendorChange{Keep: keep, Sums: sums}
	var changes []PackageChange
	for key, kind := range v.kinds {
		change.Staged = append(change.Staged, key)
		changes = append(changes, PackageChange{key, v.Dir.PackageDir(key), kind})
	}
	slices.Sort(change.Staged)
	for _, key := range removed {
		changes = append(changes, PackageChange{key, v.Dir.PackageDir(key), VendorRemoved})
	}
	slices.SortFunc(changes, func(a, b PackageChange) int { return strings.Compare(a.Key, b.Key) })
	if len(changes)+len(keep) == 0 {
		return nil, nil, nil
	}
	return change, changes, nil
}
