// Package providerfetch gets the packages of providers from the user's store or from a source. [Getter.Get]
// climbs the ladder of package lockentry: what an earlier run has recorded about the release, if it
// would count in this run too, then bundles and mirrors, then the source. A package is never unpacked
// before it is proven. What the project itself brings is read again in each run, and never recorded.
//
// If the lock has h1 or zh hashes, the package must match one of them, as for stock tools, and the
// comparison is made as early as possible. The zh of an archive and the h1 of its content are recorded
// as a pair only if both were computed on this machine.
package providerfetch
