// Package origins asks where module packages come from - registries, repositories,
// servers - what they have, and fetches packages from there into the user's cache.
//
// A [Session] is what the runs of one process share: each version listing, location, ref
// and package is asked for once, whichever run needs it, and failures are kept too. An
// [Origins] is one run's access to it, with the run's policies, and offline mode.
//
// A question is about a [Source]: a parsed source address, with the repository and the
// constraint that it may have. Where a package of it is, is a [Location]; only the
// configuration or a registry's answer makes one, never a lock. A lock pins what must
// come from there.
//
// The errors say what is wrong with the origin or the package. The caller adds which
// module call it is about.
package origins
