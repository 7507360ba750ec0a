// Package materialize puts packages from the user's cache into a project's stage,
// from where the project moves them to their final directories.
//
// There are two layouts. A private copy has everything of a package. A linked
// directory has private copies of the directories in which the call's modules are,
// because modules may write there, and relative symbolic links for all else. The
// links point into the shared tree: one copy of the whole package for all calls in
// the project. A linked directory can be made only when all modules of the call are
// known, so its caller first asks for the shared tree, reads the modules there, and
// then calls [Stage.Link].
//
// Everything is hashed from disk after it was written, and compared with the hash
// in the cache. The package knows directories, hashes and names, but no module
// calls; it moves nothing to its final place.
package materialize
