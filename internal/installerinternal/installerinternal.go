// Package installerinternal has functions of package installer that only other packages of this module need, so that
// they are no part of its API: bundle, mirror and cmd/cotter.
package installerinternal

import (
	"context"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/installerinternal/hook"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/ocistore"
)

type (
	Restored       = hook.Restored
	LockedFuncs    = hook.LockedFuncs
	LockedModule   = hook.LockedModule
	LockedProvider = hook.LockedProvider
)

var ErrNothingToRestore = hook.ErrNothingToRestore

// functions has the type of the value that package installer sets.
var functions = hook.Installer.(hook.Functions[*installer.Installer, installer.Project, installer.LockedOptions, installer.ProviderOrigin])

// Share returns a copy of in whose runs share the answers of origins, as those of InstallAll do, until done is
// called after all runs.
func Share(in *installer.Installer) (_ *installer.Installer, done func(), err error) {
	return functions.Share(in)
}

// Restore puts back entries that the lock has lost: those of modules from earlier, or if that is nil, also
// those of providers from the copy that the last run kept, or else from git's history, as docs/adopt.md says.
// It skips entries that do not fit the configuration, and changes nothing else. If there are none, the error
// wraps [ErrNothingToRestore].
func Restore(ctx context.Context, in *installer.Installer, p installer.Project, earlier *lockfile.File) (*Restored, error) {
	return functions.Restore(ctx, in, p, earlier)
}

// RequireLock returns an *[installer.MissingLockError] if a project has no lock file but needs one: it calls a module
// that is not local, replaces a package by a directory, or requires a provider. If there are only local modules,
// Install writes no lock. Without configuration in the directory, it is not known what was installed there, so
// a lock is needed. Other errors say why the configuration could not be read. No server is contacted.
func RequireLock(ctx context.Context, in *installer.Installer, p installer.Project) error {
	return functions.RequireLock(ctx, in, p)
}

// ReadLockedProviders returns the providers in the lock of a project, or of stock tools if that has only
// modules. The error is as for [installer.ReadLock].
func ReadLockedProviders(ctx context.Context, p installer.Project) ([]lockfile.Provider, error) {
	return functions.ReadLockedProviders(ctx, p)
}

// DiffInterfaces says what a change of the lock means to those who call the modules: which variables, outputs
// and required providers the packages with different content add, remove or change, and which calls that
// breaks. The arguments of the project's calls decide it. For an entry without a call, everything counts that
// could break one, and its source must not be on this machine.
//
// The result is sorted by key. Err of an element says why its packages cannot be compared; the error is about
// the comparison as a whole.
func DiffInterfaces(ctx context.Context, in *installer.Installer, p installer.Project, offline bool, old, updated *lockfile.File) ([]config.InterfaceDiff, error) {
	return functions.DiffInterfaces(ctx, in, p, offline, old, updated)
}

// ProviderOrigins says whether the sources of the providers that a project would use confirm entries of a lock, which
// need not be the project's, as [installer.Installer.VerifyRemote] does for its own. Offline, it says so by what this user's
// earlier runs have got from them, and otherwise returns an [installer.ErrOffline] for the entry.
func ProviderOrigins(ctx context.Context, in *installer.Installer, p installer.Project, offline bool, entries []lockfile.Provider) ([]installer.ProviderOrigin, error) {
	return functions.ProviderOrigins(ctx, in, p, offline, entries)
}

// LockedPackages calls use with each package in the locks of several projects, once for each entry. The locks must be
// complete, and are confirmed as in an installation with Locked. Packages of modules are at hand or fetched into the
// cache. A provider without a usable hash is an error. The projects are not changed.
//
// The functions are called from several goroutines, for at most [installer.Options].Parallel packages at once. Many
// entries may have the same package; [hashing.Tree.T1] identifies it. After an error of a function, no further packages
// of that kind and project are begun. The returned error joins an *[installer.ProjectError] for each project that failed.
func LockedPackages(ctx context.Context, in *installer.Installer, projects []installer.Project, o installer.LockedOptions, use LockedFuncs) error {
	return functions.LockedPackages(ctx, in, projects, o, use)
}

// VerifyStore fetches and hashes all packages of a store, compares them with their entries, and checks that the
// artifacts confirm these. It keeps nothing. The entries are sorted by source and version, providers last. The
// error is about the whole store.
func VerifyStore(ctx context.Context, in *installer.Installer, store ocistore.Store) ([]ocistore.Entry, error) {
	return functions.VerifyStore(ctx, in, store)
}

// ImportStore puts all packages of a store into the cache, and records their entries as confirmed for this
// user: importing a store means trusting it. Damaged packages are not imported, and of provider packages for
// other platforms only the hashes. The result is as for [VerifyStore].
func ImportStore(ctx context.Context, in *installer.Installer, store ocistore.Store) ([]ocistore.Entry, error) {
	return functions.ImportStore(ctx, in, store)
}
