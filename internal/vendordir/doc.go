// Package vendordir keeps the packages of a lock in a directory of the user's repository, so that
// an installation can use them without a network.
//
// # The directory
//
// Each package is a directory that is named after the key of its call, such as "network.subnets",
// and that has all files of the package as in the cache. Next to these directories is ".cotter":
//
//	.cotter/vendored    the root module of the directory, and the packages that were written to it
//	.cotter/sums/       the per-file sums of the packages, by t1 hash
//	.cotter/stage-*/    packages that are being written
//	.cotter/retired-*/  packages that are being replaced or removed
//
// A .gitattributes file keeps git from converting line ends. Nothing in the directory is trusted:
// a package is used only if its files match the hashes of its entry in the lock, see
// [Dir.Inspect]. The sums are used only if they match the hashes of the entry. They show which
// files differ, even on a machine that never had the package. Empty directories are ignored,
// because git does not keep them.
//
// # Writing
//
// [Dir.Begin] writes only to a directory that does not exist, is empty, or has a .cotter/vendored
// file for the same root module. It replaces or removes only packages that this file lists. All
// packages are first written to the stage and then moved to their places by renames, which are
// undone if one fails. A process that is killed in between leaves some packages of the new lock
// and some of the old one, and no package for some calls. Readers detect this by the hashes, and
// the next writer completes the change.
//
// # Where it may be
//
// The directory must be below the root module's directory or elsewhere in the same git
// repository, and no part of its path there may be a symbolic link. See [Open].
package vendordir
