// Package modpkg turns a locked module package into an OCI artifact and back. It is
// the one place that knows the shape in which bundles and mirrors hold packages.
//
// # Shape
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
// # Tags
//
//	entry-<sha256 of the statement>   the artifact with this statement
//	t1-<hex of the t1 hash>           an artifact with this content
//
// An artifact is found by what a lock says, with one request and without a list.
// Whoever knows the content only, such as a user of stock tofu, uses the other tag.
//
// # Determinism
//
// The same tree and statement give the same bytes: entries of the archive are in the
// order of their paths, have the time 1980-01-01 and the modes 0644, 0755 or, for
// links, 0777. Compression is that of a pinned dependency, not that of the Go
// release.
package modpkg
