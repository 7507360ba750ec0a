// Package registryclient is a client for registries of modules and providers. It lists the versions of a module
// or a provider, gets the location of a version, and downloads module packages that a registry hosts itself.
// The protocols are those of OpenTofu and Terraform:
// https://opentofu.org/docs/internals/module-registry-protocol/ and
// https://opentofu.org/docs/internals/provider-registry-protocol/.
//
// Strings in a listing that are not versions are skipped. The location of a module is the answer's "location",
// or else the header X-Terraform-Get. If it begins with "/", "./" or "../", it is a URL relative to the
// requested one. With the property "use_registry_credentials", the registry hosts the package; see
// [Client.Download].
//
// A registry may choose a package, but not how this machine reaches it. Its locations may point to https, git
// over https or ssh, oci, and s3 and gcs over https. If the service itself is on a loopback address, http to
// loopback is allowed too. They must not point, in any notation, to this machine, link-local addresses or cloud
// metadata services, unless the service itself is there. Everything else is refused: registry addresses (they
// could form loops), local paths, and other getters. Users can still write such an address themselves.
//
// What [Client.ProviderPackage] checks proves nothing about a package: package getproviders fetches and verifies
// the document of sums, its signature and the archive.
//
// Each answer is requested once and remembered, and concurrent callers share a request; [Client.Fresh] forgets.
// Lost connections, truncated bodies, 429, and 5xx except 501 are retried, and Retry-After is obeyed up to a
// minute each and five minutes in total. At most 5 redirects are followed, and only to https. Credentials are
// sent only over https, and not after a redirect to another origin. If they cannot be read, the request is
// sent without them, as in stock tools.
package registryclient
