// Package providers gets the packages of providers: from the user's store, or from a
// source, proven, compared with the lock, unpacked and stored.
//
// # To be installed
//
// [Getter.Get] takes the first of these ways that leads to the package:
//
//  1. The user has got this release before, the lock has a hash of it, and the store has
//     it still. The source is not asked.
//  2. A bundle or a mirror has it, with a locked hash, and is trusted to confirm it.
//  3. The stock tools' plugin cache has it under the locked version.
//  4. The source tells its archive, and the user has unpacked this archive before. The
//     source proves the package, and nothing is downloaded.
//  5. The source proves the package while it is downloaded. If it does not prove it, the
//     download ends. What is not proven is not unpacked. A bundle or mirror that confirms
//     nothing can deliver the bytes.
//
// # To be taken elsewhere
//
// [Getter.Archive] gets an archive for a bundle or a mirror. The store has none, so it
// comes from the source, except what has no archive that the lock knows: that is packed.
//
// # Hashes alone
//
// [Getter.Hashes] is for packages of other platforms. Their h1 is known from an earlier
// run, or the source vouches for it, or the user has seen the same archive before. Only
// otherwise the archive is downloaded, hashed and removed.
//
// # The lock
//
// One locked h1 or zh has to match if there is any, as for stock tools; hashes of other
// schemes count for nothing. The comparison is made as early as possible: a lock with zh
// hashes alone refuses another archive before it is downloaded. What the lock refuses is
// a *[getproviders.MismatchError]; nothing of it is kept. A lock without such hashes
// proves nothing, which [Proof].Matched tells.
//
// The h1 is that of the files as they were unpacked. The zh of an archive and the h1 of
// its content are recorded as a pair only after both were computed here.
package providers
