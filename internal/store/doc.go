// Package store is the user's store of packages, which all projects and processes of one user share.
// It has two kinds of content, [Modules] and [Providers], whose common part is in packages.go. A kind
// adds its directories, the hash of a directory, and what else is recorded about its packages.
//
// A package is named after the hash of its content. It is hashed before it is used, because the store
// can contain anything: CI systems restore it from elsewhere. Answers, confirmations and memos are
// trusted only if they have a code made with the user's key; see package userkey.
//
// The store never waits for the disk (fsync): after a crash of the system, damaged packages are found
// by their hashes and fetched again.
package store
