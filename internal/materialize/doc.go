// Package materialize puts packages from the user's cache into a project's staging directory. The
// project later moves them to their final directories.
//
// There are two layouts. A private copy has all files of a package. A linked directory has
// private copies only of the directories that contain the call's modules, because modules may
// write there. Everything else in it is a relative symbolic link into the shared tree, which is
// one copy of the whole package for all calls in the project. A linked directory can be made only
// when all modules of the call are known. So the caller first asks for the shared tree, reads the
// modules there, and then calls [Stage.Link].
//
// After it was written, everything is hashed from disk and compared with the hash in the cache.
// The package knows directories, hashes and names, but no module calls. It moves nothing to its
// final place.
package materialize
