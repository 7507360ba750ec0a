// Package registryclient is a client for registries of modules and providers. It lists the
// versions of a module or a provider, gets the location of a version, and downloads module
// packages that a registry hosts itself.
//
// The protocols are those of OpenTofu and Terraform:
// https://opentofu.org/docs/internals/module-registry-protocol/ and
// https://opentofu.org/docs/internals/provider-registry-protocol/. [Services] finds the
// base URL of the service: "modules.v1" for requests about modules, and "providers.v1" for
// requests about providers. The requests are:
//
//   - base NAMESPACE/NAME/SYSTEM/versions
//   - base NAMESPACE/NAME/SYSTEM/VERSION/download
//   - base NAMESPACE/TYPE/versions
//   - base NAMESPACE/TYPE/VERSION/download/OS/ARCH
//
// # Versions of modules
//
// Only the version strings in the first element of the answer's "modules" are used. Strings
// that are not versions are skipped, because other tools may support them. If several
// strings are the same version, the first is used. VERSION in the second request is the
// canonical form of the listed string.
//
// # Locations of modules
//
// The location is the answer's "location". If there is no "location", or if the body is not
// a JSON object, the location is the header X-Terraform-Get. So registries for OpenTofu,
// for Terraform and for both work. A location that begins with "/", "./" or "../" is a URL
// relative to the requested URL, before redirects. Any other location is a source address.
// A glob as the subdirectory ("//*") is preserved, because only the caller has the files.
//
// A registry may choose a package, but not how this machine reaches it. Its locations may
// point to
//
//   - https;
//   - git over https or ssh;
//   - oci;
//   - s3 and gcs over https;
//   - http, plain or for git and s3, on this machine's loopback addresses, if the service itself
//     is on a loopback address.
//
// They must not point, in any notation, to this machine, link-local addresses or cloud
// metadata services, unless the service itself is there.
//
// Everything else is refused: registry addresses (they could form loops), local paths,
// file, and other forced getters. hg is also refused, although stock tools
// allow it. Users can still write such an address themselves.
//
// # Packages that a registry hosts
//
// If the answer has the property "use_registry_credentials", true or false (OpenTofu 1.12),
// the location is the relative or absolute http URL of an archive on the registry; see
// [Client.Download].
//
// # Providers
//
// Versions have the form that stock tools read: one to three numbers, without a "v". Other
// strings in a listing are skipped, although stock tools refuse the whole provider in this
// case. VERSION in the second request about a provider is the canonical form.
//
// The answer about a package is checked before it is returned ([Client.ProviderPackage]):
//
//   - "os" and "arch" are the same as in the request.
//   - At least one of "protocols" is 5.x or 6.x, unless the list is empty.
//   - "filename" is the name of a file, and "shasum" a SHA-256 in hexadecimal.
//   - "download_url", "shasums_url" and "shasums_signature_url" are present. They are
//     relative to the URL that gave the answer, after redirects. They use https, or http if
//     the registry and they are on this machine. They must not point to the addresses
//     listed above.
//   - If "packages" has any entries, one of them is for the platform and has that sum.
//
// Null entries in lists and keys without an armor are skipped. These checks prove nothing
// about the package: package getproviders fetches and verifies the document of sums, its
// signature and the archive. The registry's credentials must not be sent to these URLs.
//
// # Requests
//
//   - Each listing and each location is requested once and remembered; failures are not
//     remembered. In a run of a installer.Installer, the answers are those of the run, or of the
//     runs that share answers. Otherwise a [Client] remembers them as long as it lives;
//     [Client.Fresh] returns one that asks again.
//   - Concurrent callers share a request, and canceling one caller does not cancel the others.
//   - Lost connections, truncated bodies, 429, and 5xx except 501 are retried. Retry-After
//     is obeyed up to a minute each and five minutes in total; a longer wait is an error.
//     Other 4xx are final.
//   - At most 5 redirects are followed, and only to https. Credentials are sent only over
//     https, and not after a redirect to another scheme, host or port. See package
//     internal/httpx for all rules.
//   - If credentials cannot be read, the request is sent without them, as in stock tools.
//     If it is then refused, the error says why the credentials could not be read.
//
// # Limits
//
//   - a listing: 32 MiB, 100,000 versions, and for a provider 32 warnings
//   - the answer about a provider's package: 32 MiB
//   - the answer with a module's location: 1 MiB; a location or a URL: 8 KiB
//   - a hosted package: 512 MiB by default, one hour, and at least 4 KiB a second over
//     each minute
//
// # What it does not do
//
//   - It does not select a version (package versions) or join the subdirectory of a source
//     address (package addrs).
//   - It fetches only hosted packages, and does not unpack them (package getmodules).
//   - It does not check the addresses that a host name resolves to.
//   - It does not read submodules, inputs, readmes and similar data, which some registries
//     also list.
package registryclient
