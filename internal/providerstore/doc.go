// Package providerstore is the user's store of provider packages, which all projects and
// processes of one user share. It also places packages from the store in a project.
//
//	package/<h1, hex>     unpacked packages; read-only
//	stage/<random>/       a process's staging directory; locked by that process
//	quarantine/<random>   packages whose hash differs from their name
//	fetch/<zh, hex>       locked by the process that downloads this archive
//	memo/<code>           what this user has learned about archives and releases; sealed
//	proof/<code>          the hash of a directory, with the state of its files; sealed
//	project/<code>        what this user has placed in a directory of providers; sealed
//
// All of this is in the directory "provider" of the user's cache.
//
// # Trust
//
// The store can contain anything, because CI systems restore it from elsewhere. A package is
// named after the hash of its content, so it needs no other proof, but its content must be hashed
// before it is used. For a provider that takes long. So when this user has hashed a directory, in
// the store or in a project, the hash is recorded in a proof together with the path, size, mode,
// modification time, change time and inode of each file. As long as these are unchanged, the
// files are not read again. Another user who changes a file cannot set its change time back.
//
// A user who has mapped a file into memory can change it without changing its times. So there are
// proofs only of directories in the store, and of directories in a project that are not reached
// through a link. This user must own everything in them, and no other user may write to the files.
// Other directories, such as mirrors and the plugin cache of stock tools, are read by every run.
//
// A directory that exceeds the limits of packages (see package providerzip) is an error, before a
// file is read. The logical size of a file counts. Hashing stops when the context ends.
//
// Proofs and memos are trusted only if they have a message authentication code made with the
// user's key (see package userkey). The content of an archive never changes, so a memo about it
// is valid forever.
//
// This package never waits for the disk (fsync). A proof names the boot of the system during
// which the files were hashed. After a crash everything is hashed again, and damaged packages are
// found and fetched again. On systems other than Linux and macOS there are no proofs.
//
// # Concurrency
//
// A process holds a shared lock on each package that it uses, until [Store.Close], and an
// exclusive lock on its staging directory; package pkgcache does the same. Packages are published
// by rename. A process waits for another one only while that one downloads the same archive.
// While it waits, it holds no other lock on an archive.
//
// # Links
//
// Projects have links to packages in the store. The paths of these projects are recorded when
// packages are placed, while the packages are in use. [Store.RemoveUnlinked] looks at the recorded
// places and keeps packages that a link points to. A project that is gone, that was moved or copied
// since its last installation, or that another user has installed is not known. The same record
// tells a later run which packages were placed by this user.
//
// # Permissions
//
// Files in the store have mode 0444 or 0555, and directories have mode 0555. This protects them
// from Terraform: if it considers a package wrong, it unpacks another one through the project's
// link to the store. Call [Writable] before you remove such a directory by other means than this
// package.
package providerstore
