// Package providers gets the packages of providers from the user's store or from a source. A
// package from a source is proven, compared with the lock, unpacked and stored.
//
// # Packages to install
//
// [Getter.Get] climbs the ladder of package lockentry:
//
//  1. An earlier run has recorded who confirmed this release, with a hash that the lock has. This
//     counts if this run would accept it, and its source is still named: see [Getter].Rule and
//     [Getter].Stores. The package then comes from the store, from the project's own installation,
//     from a bundle or a mirror that has the archive, from the stock tools' plugin cache, or from the
//     source.
//  2. Otherwise, a bundle or a mirror has the package with a locked hash and is trusted to confirm
//     it.
//  3. Otherwise the source is asked. If the user has unpacked the same archive before, nothing is
//     downloaded. The project's own installation and the plugin cache can deliver the package if the
//     source confirms its content, and not only the archive. Otherwise the archive is downloaded while the source proves it. If the
//     source does not prove it, the download is canceled. A package is never unpacked before it is
//     proven. A bundle or mirror that is not trusted to confirm packages can still deliver the
//     bytes.
//
// What the project itself brings is a package of the source with the evidence of a project. It is
// read there again in each run, and never recorded.
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
// # Origins
//
// [Getter.CheckLocked] asks the source again which of the locked hashes it confirms, and accepts no
// records of earlier runs.
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
