// Package mirror keeps the packages of locks in a repository of an OCI registry, with an artifact for each
// different lock entry, in the form that OpenTofu installs. Providers are in repositories below it, in the
// form of OpenTofu's provider mirrors; see [Mirror.RepositoryTemplate].
//
// A [Mirror] is an [ocistore.Store]. As one of [installer.Options].Stores it is queried before the origins,
// with one request for the manifest of an entry and one for its archive. One that the user has named confirms
// entries, so everyone who can write to it can have any entry confirmed; one that only a repository names
// confirms none.
package mirror
