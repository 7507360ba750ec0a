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

// VendorStage are the vendored packages that one run uses and replaces. It is safe for concurrent use. nil
// stands for a run without any.
type VendorStage struct {
	Project *project.Project
	Dir     *project.VendorDir
	Cache   *store.Modules
	// OnlyCompares makes a package that does not match the lock an error, instead of writing it again.
	OnlyCompares bool

	mu sync.Mutex
	// kinds are staged changes by the calls' keys.
	kinds map[string]VendorKind
}

type VendorKind string

const (
	VendorAdded   VendorKind = "added"
	VendorChanged VendorKind = "changed"
	VendorRemoved VendorKind = "removed"
)

// Stage copies a call's package from the cache to the stage of the directory. found is the status of the
// one that is there now.
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

// Note notes that a call's package changes. found is its status now.
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
	// Dir is relative to the root module.
	Key, Dir string
	Kind     VendorKind
}

// Plan returns the change after which the directory has only the packages of these calls, and its
// description, sorted by key. The change is nil if there are no packages at all.
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
