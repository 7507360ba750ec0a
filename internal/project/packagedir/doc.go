// Package packagedir is about the directories of packages in a project: where they are ([Dirs]), how
// they are made ([Stage]), whether they match the lock ([Report]), and which modules are in them. A
// private copy has all files of a package. A linked directory has private copies only of the
// directories that contain the call's modules, because modules may write there. Everything else in it
// is a relative symbolic link into the shared tree, one copy of the package for all calls of the project.
//
// What was written is hashed from disk and compared with the hash in the cache. The package moves
// nothing to its final path.
package packagedir
