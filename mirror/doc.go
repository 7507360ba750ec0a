// Package mirror keeps the packages of locks in a repository of an OCI registry.
//
// A mirror has an artifact for each different lock entry, in the form that OpenTofu installs.
// [Open] opens a mirror, [Push] stores the packages that locks name, and [Status] reports which
// are missing. Providers are in repositories below the mirror's repository, in the form of
// OpenTofu's provider mirrors; see [Mirror.RepositoryTemplate].
//
// A [Mirror] is an [ocistore.Store]. As one of [installer.Installer].Stores it is queried before
// the origins, with one request for the manifest of an entry and one for its archive.
// [installer.Installer.VerifyStore] verifies all its packages.
//
// A mirror that the user has named confirms entries, so everyone who can write to it can have any
// entry confirmed. A mirror that only a repository names confirms none. [Repair] replaces packages
// that a registry has damaged.
package mirror
