// Package artifact is the form in which bundles and mirrors have the packages of locks: OCI
// artifacts that carry what a lock states about them. It decides what they state, how they are
// named, and which bytes their archives have. What any artifact of OpenTofu looks like is the
// subject of package oci.
//
// # Modules
//
// A [Module] is a module package as OpenTofu installs it, with one layer: the tree of the
// package. Its annotations are a [Statement], the content of a lock entry without the call that
// it is for:
//
//	io.github.cotterpin.source, .version, .package, .hashes
//
// Packages with the same content share their layer, even if their statements differ.
//
// # Providers
//
// A [Release] is a version of a provider: an index as in OpenTofu's provider mirrors, with the
// manifest of a [Provider] for each platform. The layer is the published archive, or an archive
// of the package's files if the lock has no hash of the published one. The annotations of both
// are those of a release; the manifests also have those of a [ProviderStatement]:
//
//	io.github.cotterpin.provider, .version
//	io.github.cotterpin.platform, .hashes
//
// The hashes are those of the manifest's package: its h1, and the zh of the archive if it is the
// published one.
//
// # Tags
//
//	entry-<sha256 of the statement>           the artifact with this statement
//	t1-<hex of the t1 hash>                   an artifact with this content
//	provider-HOST_NAMESPACE_TYPE_VERSION      in a bundle, the index of a release; in a
//	                                          mirror, an artifact with its annotations,
//	                                          for listing
//	VERSION                                   the index, in the provider's repository
//	                                          below the mirror's repository
//
// An artifact is found by the content of a lock entry, with one request and without a listing.
// Users of stock tofu, for example, know only the content and use the second tag.
//
// # Determinism
//
// The same tree and statement always give the same bytes. The entries of the archive are in the
// order of their paths and have the time 1980-01-01 and the mode 0644, 0755 or, for links, 0777.
// The compression is that of a pinned dependency, because it could change with the Go release.
//
// A registry may have lost or damaged a blob, and may then refuse other bytes with its digest. So
// an archive has several equally deterministic forms with different digests. They differ only in
// the archive's comment, which has no meaning.
package artifact
