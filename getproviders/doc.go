// Package getproviders gets the packages of providers from registries and mirrors, and
// proves them.
//
// A [Source] lists the versions of a provider and finds the package of one of them for a
// platform. A [Package] is proven by its Authenticate, and transferred by its Download;
// both may run at the same time. Nothing of it may be used before both have succeeded.
//
// # Registries
//
// [Direct] asks the registry of a provider's host; package registryclient describes the
// protocol. The registry announces the archive's SHA-256, a document with the sums of the
// archives of all platforms, a signature of the document, and the keys to check it with.
// These are proven in this order:
//
//   - the signature of the document, by one of the keys; see package signing for which
//     signatures are good
//   - the announced sum, by the line of the document with the name of the archive
//   - the archive, by the announced sum, which is computed during the transfer
//
// A failure of the first two is an *[AuthenticationError], of the last a
// *[MismatchError].
//
// # Hashes that are vouched for
//
// [Authentication].Hashes are what a lock may record without having seen the content. For
// registries these are:
//
//   - the zh of the archive
//   - the zh of each line of the document, unless a line is malformed
//   - for [Direct].TrustedHost: the h1 and zh of all platforms that the registry reports
//     in the "packages" of its answer. Nothing signs these.
//
// A provider of TrustedHost for which the registry offers no keys is accepted with the
// same hashes; Signed is false then. On all other hosts it is an error. OpenTofu trusts
// its default registry in this way, and Terraform none.
//
// # Transfers
//
//   - The registry's credentials are never sent for archives, sums and signatures. Only
//     what their URLs have as user and password is sent, and not after a redirect to
//     another origin.
//   - At most 10 redirects to http and https are followed, none from https to http, and
//     none that package netguard refuses.
//   - Failed requests are repeated as package httpx describes. A transfer that was cut
//     off continues where it stopped, if the server has told an ETag or a modification
//     time of the file, and begins anew otherwise.
//   - An answer must begin within 30 seconds, and an archive then bring 4 KiB a second on
//     the average of 30 seconds. There is no limit for the whole of it.
//
// # Limits
//
//   - an archive: 1 GiB
//   - a document of sums: 1 MiB; a signature: 64 KiB; keys: 64 of 64 KiB
package getproviders
