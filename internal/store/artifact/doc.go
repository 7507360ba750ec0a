// Package artifact is the form in which bundles and mirrors have the packages of locks: OCI artifacts
// whose annotations carry what a lock states about them. A [Module] has one layer, the tree of the
// package. A [Release] is an index as in OpenTofu's provider mirrors, with the manifest of a [Provider]
// for each platform. An artifact is found by the content of a lock entry ([Statement.Tag],
// [Release.Tag]), with one request and without a listing; [ContentTag] is for users of stock tofu, who
// know only the content.
//
// The same tree and statement always give the same bytes. The compression is that of a pinned
// dependency, because that of the standard library could change with the Go release.
package artifact
