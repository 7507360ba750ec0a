// Package hook has what package installer gives to package installerinternal: its functions, and the types that these
// take and return.
package hook

import (
	"context"
	"errors"
	"os"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/ocistore"
)

// Functions are those of package installer, whose types are parameters because it imports this package.
type Functions[Installer, Project, LockedOptions, ProviderOrigin any] struct {
	Share               func(Installer) (Installer, func(), error)
	Restore             func(context.Context, Installer, Project, *lockfile.File) (*Restored, error)
	RequireLock         func(context.Context, Installer, Project) error
	ReadLockedProviders func(context.Context, Project) ([]lockfile.Provider, error)
	DiffInterfaces      func(context.Context, Installer, Project, bool, *lockfile.File, *lockfile.File) ([]config.InterfaceDiff, error)
	ProviderOrigins     func(context.Context, Installer, Project, bool, []lockfile.Provider) ([]ProviderOrigin, error)
	LockedPackages      func(context.Context, Installer, []Project, LockedOptions, LockedFuncs) error
	VerifyStore         func(context.Context, Installer, ocistore.Store) ([]ocistore.Entry, error)
	ImportStore         func(context.Context, Installer, ocistore.Store) ([]ocistore.Entry, error)
}

// Installer is a Functions, which package installer sets when it is initialized.
var Installer any

// Set returns a value so that a variable can be initialized with it.
func Set(functions any) bool {
	Installer = functions
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
