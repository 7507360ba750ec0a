package repository

import (
	"cmp"
	"context"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/ctxerr"
	"github.com/cotterpin/cotter/internal/packagedir"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

// VendorState says how the packages in cotter.Request.Vendor compare with the lock.
type VendorState struct {
	// Dir is the directory, relative to the root module's, with slashes.
	Dir string
	// Exists reports whether packages were vendored there.
	Exists bool
	// Verified, Missing and Changed are the calls in the lock whose packages match, do not exist,
	// and differ.
	Verified, Missing, Changed []addrs.Module
	// Unlocked are the calls of packages that the lock has no entry for.
	Unlocked []addrs.Module
}

// CompareVendored compares the packages in req.Vendor with a lock. It returns an error if packages
// cannot be vendored in that directory, or if the request names none.
func CompareVendored(ctx context.Context, req cotter.Request, lock *lockfile.File) (*VendorState, error) {
	vendored, err := findVendorDir(cmp.Or(req.Dir, "."), req)
	if err != nil {
		return nil, err
	}
	state := &VendorState{Dir: vendored.Name(), Exists: project.IsVendorDir(vendored.Path())}
	packages := packagedir.NewVendored(vendored)
	for _, entry := range lock.Modules() {
		if err := ctxerr.Of(ctx); err != nil {
			return nil, err
		}
		path := pathOf(entry.Key)
		switch packages.Inspect(ctx, entry).Status {
		case packagedir.Missing:
			state.Missing = append(state.Missing, path)
		case packagedir.Verified:
			state.Verified = append(state.Verified, path)
		default:
			state.Changed = append(state.Changed, path)
		}
	}
	for _, key := range vendored.Keys() {
		if _, ok := lock.Module(key); !ok {
			state.Unlocked = append(state.Unlocked, pathOf(key))
		}
	}
	return state, nil
}

// IsVendorDir reports whether a directory was created for the vendored packages of a root module.
func IsVendorDir(dir string) bool { return project.IsVendorDir(dir) }

// pathOf returns the path of a call with this key. Directories can have names that are no keys; the
// String method of the path returns the name nevertheless.
func pathOf(key string) addrs.Module { return strings.Split(key, ".") }

// findVendorDir opens the directory of vendored packages of a root module.
func findVendorDir(root string, req cotter.Request) (*project.VendorDir, error) {
	return project.FindVendorDir(root, req.Vendor, below(root, cmp.Or(req.DataDir, ".terraform")))
}
