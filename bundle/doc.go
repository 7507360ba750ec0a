// Package bundle transfers the packages of locks in one file to machines without a network: an OCI image
// layout in a tar file, which tools such as oras and skopeo can read. It has an artifact for each different
// lock entry, in the form that OpenTofu installs, the archive of each package once, and for each version of a
// provider an index as in OpenTofu's provider mirrors. The same locks and platforms always give the same
// bytes.
//
// A [Bundle] is an [ocistore.Store]. As one of [installer.Options].Stores it replaces the origins.
package bundle
