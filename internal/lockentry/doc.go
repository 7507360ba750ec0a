// Package lockentry compares the module entries of a lock, and knows which of them origins have
// confirmed.
//
// # Confirmations
//
// An entry of the lock says that a source, at a version, is a directory of a package with certain
// hashes. Anyone can compare bytes with hashes, but only the origin can confirm the rest.
// Packages that are installed or in the cache are used without a request if their entry was
// confirmed before: either by the last run in this project, whose lock is kept next to the
// modules, or by any run that shares the cache. Both records are authenticated with the user's
// key.
package lockentry
