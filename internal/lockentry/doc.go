// Package lockentry says what an entry of a lock states, how entries differ, and on which way the
// package of an entry is found.
//
// An entry for a module says that a source, at a version, is a directory of a package with certain
// hashes. Anyone can compare bytes with hashes. [Statements] are the rest, and package evidence says
// who can confirm them.
//
// # The ladder
//
// Modules and providers climb one [Ladder] in every command. Package evidence says what is enough at
// its top.
//
//  1. The project has brought the package, and the run accepts that.
//  2. An earlier run of this user has evidence for the entry, or a mirror or bundle that the
//     user named gives it. If the evidence does not cover everything that the run needs, the
//     origin is asked for the rest. The bytes may then come from any place that has them. Each
//     place compares them with the hashes of the lock.
//  3. Otherwise the origin is asked. It gives the evidence and delivers the bytes.
//
// Bytes without evidence are never used, wherever they are.
package lockentry
