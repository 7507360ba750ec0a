// Package moduletree reads which modules a project has: in which versions, where on disk, and where they are called.
// It is for linters, scanners, cost estimators and editors. [Read] reads the configuration, modules.json and the lock,
// whichever tool wrote them, and returns one [Tree]. It contacts no server, hashes nothing and changes nothing.
//
// The package links no network client, no client of git and no cloud SDK, which package installer needs. It starts no
// program, except that it may ask git whether the user trusts a repository of another owner. installer.Load returns the
// same modules, and besides the providers and who confirms a package.
//
// # What is known
//
// An installed module has its directory, from modules.json. In a fresh checkout with a lock, the modules that it has
// are known with their versions and hashes, but have no directory. The calls of modules that are neither installed nor
// locked are not known: such a module is in [Tree.Unresolved]. Nothing is verified: installer.Verify compares the
// installed files with the lock.
package moduletree
