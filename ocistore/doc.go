// Package ocistore has the interfaces of what keeps packages as OCI artifacts: a [Repository] is one
// repository of any OCI registry, and a [Store] is a bundle or a mirror of the packages that locks
// name. Programs that have their own client for registries, or keep artifacts elsewhere, implement
// them.
//
// A Repository has three methods with the descriptors of the OCI image specification, in the form
// in which oras-go and OpenTofu have them: *remote.Repository and *oci.Store of oras-go are
// repositories, and oras-go's *memory.Store lacks only Tags.
//
//   - getmodules.Fetcher.OCI opens the repositories of oci:// sources.
//   - getproviders.OCIMirror.Fetcher opens those of providers' mirrors.
//   - A Store opens its own: one for modules, and one for each provider.
//
// # The content of a store
//
// bundle.Create and mirror.Push write the artifacts of a store; other tools can copy them. The
// repository of the modules' packages has these tags:
//
//	entry-<sha256 of an entry's data>      the package of a lock entry
//	t1-<hex of the t1 hash>                a package with this content
//	provider-HOST_NAMESPACE_TYPE_VERSION   lists a release of a provider
//
// The repository of a provider has a tag for each version, in which "_" replaces "+". It points to
// an index with a manifest for each platform, as in OpenTofu's provider mirrors.
//
// # What an implementation can and cannot do
//
// An implementation delivers bytes. Package cotter never relies on it for more: it compares every
// manifest and blob with the digest and the size of its descriptor, limits their sizes, and compares
// the packages with the lock. An implementation that sends requests decides alone where they go:
// the rules of policies for URLs apply to the requests of package getmodules only.
//
// Whether a Store confirms entries of a lock is its [Trust], which is data. Its zero value confirms
// nothing.
package ocistore
