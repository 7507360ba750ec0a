// Package providers gets the packages of providers from the user's store or from a source. A
// package from a source is proven, compared with the lock, unpacked and stored.
//
// # Packages to install
//
// [Getter.Get] tries these ways in order:
//
//  1. The user has got this release before, the lock has a hash of it, and the store still has
//     it. The source is not asked.
//  2. A bundle or a mirror has the package with a locked hash and is trusted to confirm it.
//  3. The stock tools' plugin cache has the package for the locked version.
//  4. The source names the archive, and the user has unpacked the same archive before. The
//     source proves the package, and nothing is downloaded.
//  5. The package is downloaded while the source proves it. If the source does not prove it, the
//     download is cancelled. A package is never unpacked before it is proven. A bundle or mirror
//     that is not trusted to confirm packages can still deliver the bytes.
//
// # Archives for bundles and mirrors
//
// [Getter.Archive] gets an archive for a bundle or a mirror. The store keeps no archives, so the
// archive comes from the source. If the lock does not have the hash of an archive, the content is
// packed instead.
//
// # Hashes only
//
// [Getter.Hashes] gets the hashes of packages for other platforms. It uses the h1 from an earlier
// run, or the h1 that the source has confirmed, or the h1 of the same archive if the user has
// unpacked or hashed it before. Only if none of these is available, it downloads the archive,
// hashes it and removes it.
//
// # The lock
//
// If the lock has h1 or zh hashes, the package must match one of them, as for stock tools; hashes
// of other schemes are ignored. The comparison is made as early as possible: if the lock has only
// zh hashes, a different archive is refused before the download. A refused package is a
// *[getproviders.MismatchError], and nothing of it is kept. A lock without such hashes proves
// nothing; [Proof].Matched is empty then.
//
// The h1 is computed from the unpacked files. The zh of an archive and the h1 of its content are
// recorded as a pair only if both were computed on this machine.
package providers
