// Package getproviders gets the packages of providers from registries and mirrors, and verifies
// them. A [Source] lists the versions of a provider and finds the package of a version for a platform.
// [Package.Authenticate] gets its proof, and [Package.Download] its archive. Both may run at the same
// time. A package must not be used before both have succeeded.
//
// [Direct] queries the registry of a provider's host (see package registryclient) and verifies the
// signature of the document of sums with one of the registry's keys, the announced sum by the
// document's line with the name of the archive, and the archive by that sum. If one of the first two
// checks fails, the error is an *[AuthenticationError], and for the last one a *[MismatchError].
//
// [Authentication].Hashes are the hashes that a lock may record although the content has not been
// seen. For registries these are the zh of the archive, the zh in each line of the document unless a
// line is malformed, and for [Direct].TrustedHost the h1 and zh of all platforms that the registry
// reports without a signature. If that registry offers no keys for a provider, the provider is accepted
// with the evidence [evidence.Origin]. OpenTofu trusts its default registry in this way, and Terraform
// trusts none. A mirror that the project itself brings delivers packages and confirms none; see
// [FilesystemMirror].InProject.
//
// The registry's credentials are never sent to the URLs of archives, sums and signatures. Only the user
// and password in such a URL are sent, and not after a redirect to another origin. At most 10 redirects
// are followed, to http and https only, and not from https to http. Failed requests are repeated as
// described in package httpx. An interrupted transfer continues where it stopped if the server has sent
// an ETag or a modification time. An answer must begin within 30 seconds, and an archive must then
// arrive at 4 KiB per second on average over 30 seconds.
//
// The limits are 1 GiB for an archive, 1 MiB for a document of sums, 64 KiB for a signature, and 64 keys
// of 64 KiB.
package getproviders
