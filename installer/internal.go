package installer

import (
	"context"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/installerinternal/hook"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/ocistore"
)

// These functions are for other packages of this module. They call them by package internal/installerinternal, which
// documents them.
var _ = hook.Set(struct {
	Share               func(*Installer) (*Installer, func(), error)
	Restore             func(context.Context, *Installer, Project, *lockfile.File) (*hook.Restored, error)
	RequireLock         func(context.Context, *Installer, Project) error
	ReadLockedProviders func(context.Context, Project) ([]lockfile.Provider, error)
	DiffInterfaces      func(context.Context, *Installer, Project, bool, *lockfile.File, *lockfile.File) ([]config.InterfaceDiff, error)
	ProviderOrigins     func(context.Context, *Installer, Project, bool, []lockfile.Provider) ([]ProviderOrigin, error)
	LockedPackages      func(context.Context, *Installer, []Project, LockedOptions, hook.LockedFuncs) error
	VerifyStore         func(context.Context, *Installer, ocistore.Store) ([]ocistore.Entry, error)
	ImportStore         func(context.Context, *Installer, ocistore.Store) ([]ocistore.Entry, error)
}{share, restore, requireLock, readLockedProviders, diffInterfaces, providerOrigins, lockedPackages, verifyStore, importStore})
