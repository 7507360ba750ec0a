// Package pkgcache is the user's cache of packages, shared by all projects and
// processes of one user. It knows trees and where they came from, and no module
// calls.
//
//	tree/<t1 of the tree, hex>     published trees
//	stage/<random>/                what a process works on; locked by it
//	quarantine/<random>            trees that were not what their name says
//	fetch/<sha256 of a key>        locked by the process that fetches it
//	fetch/<sha256 of a key>.json   what the last fetch brought; sealed
//	confirmed/<code of a claim>    what locks say and an origin has confirmed
//	git/, archive/                 see package getmodules
//
// # What is believed
//
// Anything can be in the cache: CI systems restore it from elsewhere.
//
// A tree's name is the hash of its content, and a tree is hashed again whenever
// it is copied into a project. So two processes that publish one tree publish
// the same thing, and whichever rename comes first wins. That a tree is there
// says nothing about where it is from. That is said by answers and
// confirmations, which count only with a code under the user's key (package
// userkey): sealed content, or a name that only this user can make.
//
// # Concurrency
//
// A process holds a shared lock on each tree that it uses, from its publication
// or first use until [Cache.Close], and an exclusive one on its directory on the
// stage. Trees that are in use are not removed, and a stage that is not locked
// belongs to a process that was killed, so the next one removes it. On file
// systems that cannot lock directories, a tree that vanishes is fetched again,
// and a stage is removed after a day.
//
// Directories are made for the user alone (0700).
package pkgcache
