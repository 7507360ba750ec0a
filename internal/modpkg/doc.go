// Package modpkg turns locked packages, of modules and of providers, into OCI artifacts
// and back. It is the one place that knows the shape in which bundles and mirrors hold
// packages.
//
// # Modules
//
// An artifact is an OCI image manifest as OpenTofu installs it:
//
//	artifactType  application/vnd.opentofu.modulepkg
//	config        application/vnd.oci.empty.v1+json, "{}"
//	layers        one, archive/zip: the tree of the package
//	annotations   io.github.cotterpin.source, .version, .package, .hashes
//
// The annotations are a [Statement]: what an entry of a lock says, apart from the
// call that it is for. Packages with the same content share their layer, even if
// their statements differ.
//
// # Providers
//
// A release, which is a version of a provider, is an OCI image index as in the provider
// mirrors of OpenTofu. It has a manifest for each platform:
//
//	artifactType  application/vnd.opentofu.provider in the index,
//	              application/vnd.opentofu.provider-target in the manifests
//	layers        one, archive/zip: the archive that was published, or the files of the
//	              package if the lock does not know one
//	annotations   io.github.cotterpin.provider and .version, in the manifests also
//	              .platform and .hashes
//
// The hashes are those of the one package: its h1, and the zh of the archive if that is the
// one that was published.
//
// # Signatures
//
// The annotation io.github.cotterpin.signatures has signatures by ed25519 keys, with
// spaces between them. Each is KEY:SIGNATURE: the first 16 hexadecimal digits of the
// SHA-256 sum of the public key's DER form (PKIX), and the signature in base64. What is
// signed are these lines, each with a line feed at its end. An empty value leaves the
// space before it; hashes are sorted, with a space between them.
//
//	cotter mirror entry v1
//	source SOURCE
//	version VERSION
//	package PACKAGE
//	hashes HASH HASH
//	layer sha256:DIGEST
//
// And for the package of a provider:
//
//	cotter mirror provider v1
//	provider HOST/NAMESPACE/TYPE
//	version VERSION
//	platform OS_ARCH
//	hashes HASH HASH
//	layer sha256:DIGEST
//
// # Tags
//
//	entry-<sha256 of the statement>           the artifact with this statement
//	t1-<hex of the t1 hash>                   an artifact with this content
//	provider-HOST_NAMESPACE_TYPE_VERSION      the index of a release in a bundle; in a mirror
//	                                          an artifact with its annotations, for lists
//	VERSION                                   the index, in the repository of the provider
//	                                          below that of a mirror
//
// An artifact is found by what a lock says, with one request and without a list.
// A user of stock tofu, for example, knows only the content and uses the other tag.
//
// # Determinism
//
// The same tree and statement give the same bytes, also with a signature: entries of the archive are in the
// order of their paths, have the time 1980-01-01 and the modes 0644, 0755 or, for
// links, 0777. Compression is that of a pinned dependency, not that of the Go
// release.
//
// A registry may have lost or damaged a blob and refuse other bytes under its digest. So
// an archive has several forms with other digests, each as deterministic: they differ in
// the archive's comment, which means nothing.
package modpkg
