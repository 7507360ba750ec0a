// Package bundle carries the packages of locks in one file to machines without a
// network.
//
// A bundle is an OCI image layout in a tar file, which tools such as oras and skopeo
// read. It has an artifact for each different entry of the locks, in the form that
// OpenTofu installs, and the archive of each package once. For each version of a provider
// it has an index as in OpenTofu's provider mirrors, with a manifest for each platform. The
// same locks and platforms give the same bytes.
//
// [Create] writes a bundle and [Open] opens one. A [Bundle] is a [cotter.ListedStore]:
// as one of [cotter.Installer].Stores it takes the place of the origins, and
// [cotter.Installer.VerifyStore] and [cotter.Installer.ImportStore] check it and put it
// into the cache.
package bundle
