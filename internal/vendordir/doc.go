// Package vendordir keeps the packages of a lock in a directory of the user's
// repository, from where an installation uses them without a network.
//
// # The directory
//
// Each package is a directory with the key of its call, such as "network.subnets",
// which has all files of the package as they are in the cache. Beside these is ".cotter":
//
//	.cotter/vendored    whose directory it is, and which packages were written to it
//	.cotter/sums/       the per-file sums of the packages, by t1 hash
//	.cotter/stage-*/    packages that are being written
//	.cotter/retired-*/  packages that are being replaced or removed
//
// A .gitattributes file keeps git from converting line ends. Nothing here is trusted: a
// package counts if all its files are those of an entry in the lock, see [Dir.Inspect].
// The sums are used if they give the hash of the entry. They tell which files differ, on
// a machine that never had the package. Empty directories, which git does not keep, do
// not count.
//
// # Writing
//
// [Dir.Begin] writes only to a directory that is absent, empty, or has a .cotter/vendored
// file for the same root module, and replaces or removes only packages that this file
// lists. All packages are written to the stage first and moved to their places by
// renames, which are undone if one fails. A process that is killed in between leaves some
// packages of the new lock and some of the old one, or none for a call. Whoever reads the
// directory finds that by the hashes, and the next writer completes it.
//
// # Where it may be
//
// The directory is below the root module's directory or elsewhere in the same git
// repository, and no part of its path there is a symbolic link. See [Open].
package vendordir
