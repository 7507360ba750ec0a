// Package store is the user's cache of package trees, shared by all projects
// and processes of one user.
//
//	tree/<t1 of the tree, hex>   published trees
//	stage/<random>               trees on their way in, private to a process
//	quarantine/<random>          trees that were not what their name says
//	fetch/<sha256 of a key>      who fetches it, and what it led to last time
//	vouched/<sha256 of a claim>  what locks say and was found to be true
//	git/, archive/               see package getmodules
//
// A name is worth what it says: a tree's name is the hash of its content, so
// two processes that publish one tree publish the same thing, and whichever
// rename comes first wins. Nobody relies on the name alone: a tree is hashed
// again whenever it is copied into a project, because the cache is a directory
// like any other, where disks fail and people edit.
//
// The directory is made for the user alone (0700).
package store
