// Package lockentry compares the module entries of a lock, and names what must be confirmed about
// them.
//
// An entry of the lock says that a source, at a version, is a directory of a package with certain
// hashes. Anyone can compare bytes with hashes; package evidence says who can confirm the rest.
package lockentry
