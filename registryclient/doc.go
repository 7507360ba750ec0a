// Package registryclient is a client of registries of modules and providers. It lists
// the versions of a module or a provider, gets the location of a version, and
// downloads module packages that a registry hosts itself.
//
// The protocols are those of OpenTofu and Terraform:
// https://opentofu.org/docs/internals/module-registry-protocol/ and
// https://opentofu.org/docs/internals/provider-registry-protocol/. [Services] finds
// the URL of the service, base. The requests of modules are below that of
// "modules.v1", and those of providers below that of "providers.v1":
//
//   - base NAMESPACE/NAME/SYSTEM/versions
//   - base NAMESPACE/NAME/SYSTEM/VERSION/download
//   - base NAMESPACE/TYPE/versions
//   - base NAMESPACE/TYPE/VERSION/download/OS/ARCH
//
// # Versions of modules
//
// Only the version strings in the first element of the answer's "modules" are used.
// Strings that are not versions are skipped, because other tools may support them.
// Of several strings for one version the first is used. VERSION in the second
// request is the canonical form of the listed string.
//
// # Locations of modules
//
// The location is the answer's "location", or the header X-Terraform-Get if there
// is no "location" or the body is not a JSON object. So registries for OpenTofu,
// for Terraform and for both work. A location that begins with "/", "./" or "../"
// is a URL relative to the requested one, before redirects; any other is a source
// address. A glob as the subdirectory ("//*") is preserved, because the caller has
// the files.
//
// A registry may choose a package, but not how this machine reaches it. Its
// locations may point to
//
//   - https;
//   - git over https or ssh;
//   - oci;
//   - http, plain or for git, on this machine's loopback addresses, if the
//     service is on one itself;
//
// but not, in any notation, to this machine, link-local addresses or cloud metadata
// services, unless the service is there itself.
//
// Everything else is refused: registry addresses (they could form loops),
// local paths, file, other forced getters, and also s3, gcs and hg, which the
// stock tools allow. Users can still write such an address themselves.
//
// # Packages that a registry hosts
//
// If the answer has the property "use_registry_credentials", true or false (OpenTofu
// 1.12), the location is the relative or absolute http URL of an archive on the
// registry; see [Client.Download].
//
// # Providers
//
// Versions have the form that stock tools read: one to three numbers, without a "v".
// Other strings in a listing are skipped; stock tools then refuse the whole provider.
// VERSION in the second request is the canonical form.
//
// The answer about a package is checked before it is returned ([Client.ProviderPackage]):
//
//   - "os" and "arch" repeat the request's.
//   - At least one of "protocols" is 5.x or 6.x, unless there are none.
//   - "filename" is the name of a file, and "shasum" a SHA-256 in hexadecimal.
//   - "download_url", "shasums_url" and "shasums_signature_url" are given. They are
//     relative to the URL that gave the answer, after redirects. They may point to
//     http and https, but not to this machine and the like, as above.
//   - If "packages" has any entries, it has one for the platform with that sum.
//
// Null entries in lists and keys without an armour are skipped. Nothing is proven by
// that: the document of sums, its signature and the archive are fetched and checked by
// package getproviders. The registry's credentials are not for these URLs.
//
// # Requests
//
//   - Each listing and each location is requested once and cached; failures are
//     not cached. Concurrent callers share a request, and cancelling one caller
//     does not cancel the others.
//   - Lost connections, truncated bodies, 429 and 5xx except 501 are retried.
//     Retry-After is obeyed up to a minute each and five minutes in total; a
//     longer one is an error. Other 4xx are final.
//   - At most 5 redirects are followed, to https only. Credentials are sent over
//     https only, and not after a redirect to another scheme, host or port. See
//     package internal/httpx for all rules.
//   - If credentials cannot be read, the request is sent without them, as in stock
//     tools. If it is then refused, the error has the reason.
//
// # Limits
//
//   - a listing: 32 MiB, 100,000 versions, and 32 warnings of a provider
//   - the answer about a provider's package: 32 MiB
//   - the answer with a module's location: 1 MiB; a location or a URL: 8 KiB
//   - a hosted package: 512 MiB by default, one hour, and at least 4 KiB a second
//     over each minute
//
// # What it does not do
//
//   - It does not select a version (package versions), join the subdirectory of a
//     source address (package addrs), fetch other than hosted packages, or unpack
//     (package getmodules).
//   - It does not check the addresses that a host name resolves to.
//   - It does not read submodules, inputs, readmes and the like, which some
//     registries also list.
package registryclient
