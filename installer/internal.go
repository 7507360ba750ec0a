package installer

import "github.com/cotterpin/cotter/internal/installerinternal/hook"

// These functions are for other packages of this module. They call them by package internal/installerinternal, which
// documents them.
var _ = hook.Set(hook.Functions[*Installer, Project, LockedOptions, ProviderOrigin]{
	Share:               share,
	Restore:             restore,
	RequireLock:         requireLock,
	ReadLockedProviders: readLockedProviders,
	DiffInterfaces:      diffInterfaces,
	ProviderOrigins:     providerOrigins,
	LockedPackages:      lockedPackages,
	VerifyStore:         verifyStore,
	ImportStore:         importStore,
})
