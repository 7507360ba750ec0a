// Package hook has what package installer gives to package installerinternal: its functions, and the types that these
// take and return.
package hook

import (
	"context"
	"errors"
	"os"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
	"github.com/cotterpin/cotter/lockfile"
)

// Functions is a struct of functions that take the types of package installer. That package sets it when it is initialized.
var Functions any

// Set returns a value so that a variable can be initialized with it.
func Set(functions any) bool {
	Functions = functions
	return true
}

// ErrNothingToRestore is wrapped by the error of Restore.
var ErrNothingToRestore = errors.New("there are no entries to restore: neither the copy of the last run nor git's history has one that the lock lacks")

// Restored is what was put back into a lock.
type Restored struct {
	// From names the source of the entries: "the copy of the last run", "git show HEAD:FILE", or "commit
	// 3f2a91c (2026-10-02)"; "" for the argument of Restore.
	From      string
	Modules   []addrs.Module
	Providers []addrs.Provider
}

// LockedFuncs are called by LockedPackages with each package, unless they are nil.
type LockedFuncs struct {
	// Module gets each entry of a module, and Provider each entry and platform of a provider.
	Module   func(context.Context, LockedModule) error
	Provider func(context.Context, LockedProvider) error
}

// LockedModule is the package of a module that was compared with its entry in a lock.
type LockedModule struct {
	Entry lockfile.Module
	Tree  *hashing.Tree // the files of the package with their sums
	Dir   string
}

// Open opens the directory of the package until LockedPackages returns. It has the files of Tree, and possibly
// others that the module has written since. It must only be read, and the caller must close it.
func (m LockedModule) Open() (*os.Root, error) { return pathsafe.OpenRoot(m.Dir) }

// LockedProvider is a provider package for one platform, from an entry of a lock.
type LockedProvider struct {
	Entry    lockfile.Provider
	Platform addrs.Platform
	// Archive returns the archive from the provider's source, authenticated as in an installation, until
	// LockedPackages returns. If the lock has no zh hashes and the content is in the cache, it is packed from there.
	Archive func(context.Context) (*providerfetch.Archive, error)
}
