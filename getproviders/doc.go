// Package getproviders gets the packages of providers from registries and mirrors, and verifies
// them.
//
// A [Source] lists the versions of a provider and finds the package of a version for a platform.
// A [Package] has a method Authenticate that gets its proof, and a method Download that transfers
// its archive. Both may run at the same time. A package must not be used before both have
// succeeded.
//
// # Registries
//
// [Direct] queries the registry of a provider's host; package registryclient describes the
// protocol. The registry announces the archive's SHA-256 sum, a document with the sums of the
// archives of all platforms, a signature of the document, and the keys for checking it. They are
// verified in this order:
//
//   - the signature of the document, with one of the keys; package signing describes which
//     signatures are accepted
//   - the announced sum, by the document's line with the name of the archive
//   - the archive, by the announced sum; its sum is computed during the transfer
//
// If one of the first two checks fails, the error is an *[AuthenticationError]. If the last one
// fails, it is a *[MismatchError].
//
// # Confirmed hashes
//
// [Authentication].Hashes are the hashes that a lock may record although the content has not been
// seen. For registries these are:
//
//   - the zh of the archive
//   - the zh in each line of the document, unless a line is malformed
//   - for [Direct].TrustedHost: the h1 and zh of all platforms that the registry reports in the
//     "packages" of its answer, which are not signed
//
// If the registry of TrustedHost offers no keys for a provider, the provider is accepted with the
// same hashes, and its evidence is [evidence.Origin]. For all other hosts this is an error. OpenTofu trusts its
// default registry in this way, and Terraform trusts none.
//
// # Evidence
//
// [Authentication].Evidence is who confirms a package: the signature of a registry, or a mirror that
// the user has named. A mirror that the project itself brings delivers packages and confirms none;
// see [FilesystemMirror].InProject. Package evidence says what is enough for which run.
//
// # Transfers
//
//   - The registry's credentials are never sent to the URLs of archives, sums and signatures.
//     Only the user and password in such a URL are sent, and not after a redirect to another
//     origin.
//   - At most 10 redirects are followed, to http and https only. Redirects from https to http and
//     those that package hostname refuses are not followed.
//   - Failed requests are repeated as described in package httpx. An interrupted transfer
//     continues where it stopped if the server has sent an ETag or a modification time of the
//     file. Otherwise it starts again.
//   - An answer must begin within 30 seconds. After that, an archive must arrive at 4 KiB per
//     second on average over 30 seconds. There is no limit for the whole transfer.
//
// # Limits
//
//   - an archive: 1 GiB
//   - a document of sums: 1 MiB; a signature: 64 KiB; keys: 64 of 64 KiB
package getproviders
