// Package packagedir makes the directories of packages in a project, and finds the modules in them.
//
// # Staged directories
//
// [Stage] takes packages from the user's cache and writes them to the project's staging directory.
// The project later moves them to their final directories. There are two layouts. A private copy
// has all files of a package. A linked directory has private copies only of the directories that
// contain the call's modules, because modules may write there. Everything else in it is a relative
// symbolic link into the shared tree, which is one copy of the whole package for all calls in the
// project. A linked directory can be made only when all modules of the call are known. So the
// caller first asks for the shared tree, reads the modules there, and then calls [Stage.Link].
// [Vendored] makes copies for the directory of vendored packages.
//
// After it was written, everything is hashed from disk and compared with the hash in the cache.
// The package knows directories, hashes and names, but no module calls. It moves nothing to its
// final path.
//
// # Directories of modules
//
// A module is in a directory of a package, or among the user's own files. [Package.Check] and
// [OwnModule] check that the directory exists and return it without links.
package packagedir
