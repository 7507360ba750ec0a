// Package bundle transfers the packages of locks in one file to machines without a network.
//
// A bundle is an OCI image layout in a tar file, which tools such as oras and skopeo can read. It
// has an artifact for each different lock entry, in the form that OpenTofu installs, and the
// archive of each package once. For each version of a provider it has an index as in OpenTofu's
// provider mirrors, with a manifest for each platform. The same locks and platforms always give
// the same bytes.
//
// [Create] writes a bundle and [Open] opens one. A [Bundle] is an [ocistore.Store]. As one of
// [installer.Installer].Stores it replaces the origins. [installer.Installer.VerifyStore] verifies it,
// and [installer.Installer.ImportStore] imports its packages into the cache.
package bundle
