// Package providerstore is the user's store of provider packages, shared by all
// projects and processes of one user, and the way from there into a project.
//
//	package/<h1, hex>     unpacked packages; read-only
//	stage/<random>/       a process's staging directory; locked by it
//	quarantine/<random>   packages that do not have the hash of their name
//	fetch/<zh, hex>       locked by the process that downloads this archive
//	memo/<code>           what this user has found out of archives and releases; sealed
//	proof/<code>          the hash of a directory, with the state of its files; sealed
//
// All of it is in the directory "provider" of the user's cache.
//
// # Trust
//
// The store can hold anything: CI systems restore it from elsewhere. A package's name is
// the hash of its content, so it needs no proof, but it is hashed before it is used. That
// takes long for providers. So when this user has hashed a directory, in the store or in
// a project, the hash is kept with path, size, mode, modification time, change time and
// inode of each file. As long as these are the same, the files are not read again.
// Another user who changes a file cannot set its change time back.
//
// Proofs and memos are trusted only with a message authentication code under the user's
// key (package userkey). What an archive unpacks to never changes, so such a memo is
// valid for ever.
//
// Nothing here waits for the disk. A proof names the boot of the system in which the
// files were hashed: after a crash everything is hashed again, and what the crash has
// damaged is found and got again. On systems other than Linux and macOS there are no
// proofs.
//
// # Concurrency
//
// A process holds a shared lock on each package that it uses, until [Store.Close], and an
// exclusive one on its staging directory, as package pkgcache does. Packages are
// published by rename. A process waits for another one only while that downloads the same
// archive, and holds no other lock of that kind then.
//
// # Permissions
//
// Files in the store have mode 0444 or 0555 and directories 0555: Terraform unpacks a
// package through the link that a project has to it if it takes the package for a wrong
// one. Use [Writable] before such a directory is removed by other means than this package.
package providerstore
