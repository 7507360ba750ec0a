// Package registryclient is a client of the module registry protocol, the
// service "modules.v1": it lists the versions of a module package, asks where
// one of them is, and downloads the packages that a registry hosts itself.
//
// The protocol is that of OpenTofu and Terraform:
// https://opentofu.org/docs/internals/module-registry-protocol/. With base as
// the URL of the service, which [Services] finds, these are asked:
//
//   - base NAMESPACE/NAME/SYSTEM/versions
//   - base NAMESPACE/NAME/SYSTEM/VERSION/download
//
// # Versions
//
// Only the first element of the answer's "modules" counts, and in it only the
// version strings. Strings that are not versions are skipped: another tool may
// know what to do with them. Of several strings for one version the first
// counts. VERSION in the second request is the canonical form, whatever was
// listed.
//
// # Locations
//
// The answer's "location" counts; where there is none, or the body is not a
// JSON object, the header X-Terraform-Get. So registries work that were made
// for OpenTofu, for Terraform, or for either. What begins with "/", "./" or
// "../" is a URL relative to the one that was asked, before redirects; anything
// else is a source address. A glob as the subdirectory ("//*") is left as it
// is, for the caller that has the files.
//
// A registry is trusted with the choice of a package, not with the choice of
// how this machine reaches it. Its locations may point to
//
//   - https;
//   - git over https or ssh;
//   - oci;
//   - http, plain or for git, on this machine's loopback addresses, if the
//     service is on one itself;
//
// but not, however its address is written, to this machine, its link or the
// metadata service of its cloud, unless the service is there itself.
//
// Everything else is refused: registry addresses (they could form loops),
// local paths, file, other forced getters, and also s3, gcs and hg, which the
// stock tools allow. Users can still write such an address themselves.
//
// # Packages that a registry hosts
//
// With the property "use_registry_credentials" as true or false (OpenTofu 1.12)
// the location is an http URL, relative or absolute, of an archive that is to
// be had from the registry directly; see [Client.Download].
//
// # Talk
//
//   - Each listing and each location is asked for once and remembered; a
//     caller that is cancelled does not disturb the others. Failures are not
//     remembered.
//   - Lost connections, bodies cut short, 429 and 5xx except 501 are tried
//     again. Retry-After is obeyed up to a minute each and five minutes in
//     total; where a server asks for more, that is the error. Any other 4xx is
//     final.
//   - At most 5 redirects are followed, to https only. Credentials go over
//     https only and do not follow to another scheme, host or port. See package
//     internal/httpx for all rules.
//   - Credentials that cannot be read do not fail a request: it goes without,
//     as with the stock tools, and the reason is told if it is then refused.
//
// # Limits
//
//   - a listing: 32 MiB, 100,000 versions
//   - the answer with a location: 1 MiB; a location: 8 KiB
//   - a hosted package: 512 MiB by default, one hour, one minute without a byte
//     or at less than 4 KiB a second
//     or with less than 4 KiB a second on average
//
// # What it does not do
//
//   - It does not select a version (package versions), join the
//     subdirectory that a user asked for (package addrs), fetch anything but
//     hosted packages, or unpack (package getmodules).
//   - It does not look at the addresses that a host name resolves to.
//   - It reads no submodules, inputs, readmes and the like, which some
//     registries list too.
package registryclient
