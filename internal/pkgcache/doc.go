// Package pkgcache is the user's cache of packages, which all projects and processes of one user
// share. It stores trees and their origins, and knows nothing about module calls.
//
//	tree/<t1 of the tree, hex>     published trees
//	stage/<random>/                a process's staging directory; locked by it
//	quarantine/<random>            trees that do not have the hash of their name
//	fetch/<sha256 of a key>        locked by the process that fetches it
//	fetch/<sha256 of a key>.json   the result of the last fetch; sealed
//	confirmed/<code of a record>   evidence for lock entries; see package evidence
//	git/, archive/                 see package getmodules
//
// # Trust
//
// The cache can contain anything, because CI systems restore it from elsewhere.
//
// A tree is named after the hash of its content, and is hashed again whenever it is copied into a
// project. Two processes that publish the same tree publish identical content, so the first
// rename wins. The existence of a tree does not prove its origin, but answers and confirmations
// do. They are trusted only if they have a message authentication code made with the user's key
// (see package userkey): answers have sealed content, and confirmations have a name that only
// this user can compute.
//
// # Concurrency
//
// A process holds a shared lock on each tree that it uses, from publication or first use until
// [Cache.Close], and an exclusive lock on its staging directory. Trees in use are not removed. A
// staging directory that is not locked belongs to a killed process, and the next process removes
// it. On file systems that cannot lock directories, a tree that was removed is fetched again, and
// a staging directory is removed after a day.
//
// Directories are created with mode 0700.
package pkgcache
