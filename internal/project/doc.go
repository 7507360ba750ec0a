// Package project is the state of one project on disk: the modules directory
// (".terraform/modules"), the dependency lock next to the configuration, the directory of vendored
// packages if there is one, and the files that Cotter keeps between runs. It lets only one process
// at a time change them, makes each change atomic, and decides which files of an earlier run can be
// trusted.
//
// The package knows nothing about module calls, versions or hashes, and does not read the
// packages that it moves. Package lockfile parses and writes the lock; [Manifest] is modules.json.
//
// # Files
//
// Stock tools know modules.json and one directory for each call of a module outside the project,
// named after the call's key. Next to them is ".cotter":
//
//	.cotter/lock       locked by the process that changes the directory
//	.cotter/stage/     packages to be installed, read by one process only
//	.cotter/journal    the change in progress; sealed
//	.cotter/retired/   replaced files and packages, until the change is complete
//	.cotter/tree/      shared trees: whole packages to which calls link
//	.cotter/sums/      the per-file sums of installed packages, by t1 hash
//	.cotter/lock.hcl   a copy of the lock as the last run wrote it; sealed, by which
//	                   it says whether all entries were confirmed
//
// # Vendored packages
//
// A directory of the user's repository can have the packages of the lock, so that an installation
// needs no network. Each package is a directory that is named after the key of its call, such as
// "network.subnets", and that has all files of the package as in the cache. Next to these
// directories is ".cotter":
//
//	.cotter/vendored    the root module of the directory, and the packages that were written to it
//	.cotter/sums/       the per-file sums of the packages, by t1 hash
//	.cotter/stage-*/    packages that are being written
//	.cotter/retired-*/  packages that are being replaced or removed
//
// A .gitattributes file keeps git from converting line ends. A change is only made in a directory
// that does not exist, is empty, or has a .cotter/vendored file for the same root module. It
// replaces or removes only packages that this file lists. Nothing in the directory is trusted:
// package packagedir compares the packages with the lock.
//
// The directory must be below the root module's directory or elsewhere in the same git
// repository, and no part of its path there may be a symbolic link. See [FindVendorDir].
//
// # Proof
//
// Everything below the project directory can come from a repository. A sealed file is trusted
// only if this user wrote it for this project. It starts with a message authentication code made
// with the user's key (see package userkey), which covers the content and the real paths of the
// project directory and the modules directory. A file without a valid code is treated as absent
// and reported as a [Notice]. Packages and sums are verified by their hashes, which callers
// compare with the lock. modules.json is only a hint. If an irregular file has a name that
// belongs to Cotter, it is removed and never followed. All reads are limited in size.
//
// # A change
//
// [Project.Commit] makes a change in this order. Each step is durable before the
// next one begins.
//
//  1. Staged packages and links, and the new lock, lock copy and manifest as temporary
//     files, are written. Lack of space or permission shows here.
//  2. The journal is written: the moves to be made, and the old lock.
//  3. modules.json moves to .cotter/retired.
//  4. Packages: the old one moves to .cotter/retired, the new one to its final
//     path. Then vendored packages in the same way, with their sums and
//     .cotter/vendored. Meanwhile that lists the packages before and after the
//     change, so that each package is listed even if the journal is lost.
//  5. The lock is replaced, if it still has the bytes that were read.
//  6. The lock copy is replaced.
//  7. The new modules.json moves to its final path: the change is complete.
//  8. The retired vendored packages are removed; then the journal; then
//     .cotter/retired.
//
// # States
//
// Stock tools find modules only through modules.json. They see the old tree until step 3, then
// "Module not installed" until step 7, and then the new tree, but never a mixture.
//
//	state                          next Open          View (verify)      stock tools see
//	no journal                     -                  -                  what is installed
//	journal, no proof              removes it         ignores it         what is installed
//	journal, before step 3         undoes             Unfinished         the old tree
//	journal, steps 3 to 6          undoes             Unfinished         no modules
//	journal, after step 7          removes it         complete           the new tree
//	journal, and modules.json of   abandons the       Unfinished         what that program installed
//	another program                change, moves
//	                               nothing
//
// Undoing a change moves everything back, including the lock if it still has the bytes that the
// change wrote. So a killed run leaves no changes in the project, but the package cache keeps the
// packages that it fetched. An error in steps 3 to 7 is handled in the same way: lock, copy and
// manifest are restored. If undoing is interrupted, the next Open repeats it.
//
// Vendored packages are undone even if another program has installed modules, because stock tools
// do not write to that directory. They are left as they are if their retired packages are gone:
// then git, or a run with another data directory, has changed the directory since. If another
// program has restored a package that was retired, such as git, undoing replaces it by the retired
// one.
//
// # Locks
//
// Two locks serialize processes. One is on the project directory and protects the dependency
// lock. The other is .cotter/lock and protects the modules directory, which TF_DATA_DIR can put
// anywhere. If directories cannot be locked, or another program holds the lock on the project
// directory, the dependency lock is protected only by the comparison in step 5.
//
// A process that has created the modules directory, and installs nothing, removes it with the lock
// in it. A process that has waited for this lock begins again.
package project
