// Package lockentry compares entries of a lock's modules, and knows which of them origins
// have confirmed.
//
// # Confirmations
//
// An entry of the lock says that a source, at a version, means a directory of a package
// with certain hashes. Bytes can be compared with hashes anywhere; the rest only the
// origin can confirm. Packages that are installed or in the cache are used without asking
// for entries that were confirmed before: for the last run in this project, whose lock is
// kept beside the modules, or for any run that shares the cache. Both are proven to be
// this user's by the user's key.
package lockentry
