// Package mirror keeps the packages of locks in a repository of an OCI registry.
//
// A mirror has an artifact for each different entry of the locks, in the form that
// OpenTofu installs. [Open] opens one, [Push] stores what locks name and [Status] says
// what is missing. Providers are in repositories below that of the mirror, in the form of
// OpenTofu's provider mirrors; see [Mirror.RepositoryTemplate]. A [Mirror] is a [cotter.ListedStore]: as one of
// [cotter.Installer].Stores it is asked before the origins, with a request for the
// manifest of an entry and one for its archive, and [cotter.Installer.VerifyStore]
// checks all that it has.
//
// What a mirror says of an entry counts as its [Trust] says: for a mirror that the user
// names, and not for one that only a repository names, unless a trusted key has signed the
// entry. Keys are ed25519 in PEM, see [ParsePublicKeys] and [ParsePrivateKey]; the page
// docs/air-gap.md has what is signed. [Repair] replaces what a registry has damaged.
package mirror
