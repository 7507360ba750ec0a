// Package packagedir is about the directories of packages in a project: where they are, how they are
// made, whether they match the lock, and which modules are in them. [Dirs] knows which packages a
// project has, and where.
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
// [VendorStage] makes copies for the directory of vendored packages.
//
// After it was written, everything is hashed from disk and compared with the hash in the cache.
// The package knows directories, hashes and names, but no module calls. It moves nothing to its
// final path.
//
// # Comparison with the lock
//
// [Installed] compares installed packages with the entries of a lock, and [Vendored] vendored ones. A
// package matches its entry if its hashes are those of the entry. Files that were added to an
// installed package since are ignored unless they are configuration, because modules write into
// their own directories. If a package's directory has links into a shared tree, their targets are
// compared instead. The shared tree as a whole is also compared with the entry, because
// configuration is read there. In a vendored package, added files count, because only the author of
// a commit can have added them, and empty directories are ignored, because git does not keep them.
//
// A [Report] names the files that differ if the project has the sums of the locked files. Nothing
// is read twice, and nothing is changed. The caller must find entries without a package, and
// packages without an entry.
//
// # Directories of modules
//
// A module is in a directory of a package, or among the user's own files. [Package.Check] and
// [OwnModule] check that the directory exists and return it without links.
package packagedir
