// Package ocistore has the interfaces of what keeps packages as OCI artifacts: a [Repository] is one
// repository of any OCI registry, and a [Store] is a bundle or a mirror of the packages that locks name.
// Programs with their own client for registries, or with artifacts elsewhere, implement them, with the
// descriptors of the OCI image specification: *remote.Repository and *oci.Store of oras-go are repositories,
// and its *memory.Store lacks only Tags. getmodules.Fetcher.OCI opens those of oci:// sources, and
// getproviders.OCIMirror.Fetcher those of providers' mirrors.
//
// An implementation delivers bytes. Every manifest and blob is compared with the digest and size of its
// descriptor, sizes are limited, and packages are compared with the lock. Where an implementation sends
// requests is its own decision: the rules of policies for URLs apply to package getmodules only.
//
// bundle.Create and mirror.Push write the artifacts of a store; other tools can copy them. The repository of
// the modules' packages has these tags:
//
//	entry-<sha256 of an entry's data>      the package of a lock entry
//	t1-<hex of the t1 hash>                a package with this content
//	provider-HOST_NAMESPACE_TYPE_VERSION   lists a release of a provider
//
// The repository of a provider has a tag for each version, with "_" for "+". It points to an index with a
// manifest for each platform, as in OpenTofu's provider mirrors.
package ocistore
