// Package treewriter writes the canonical tree of a package into a new directory: regular files,
// directories and relative symbolic links with the modes 0644 and 0755, regardless of the umask. The
// names are untrusted; see package pathsafe. A link that points out of the tree, to nothing, through a
// file or in a cycle is left out and listed ([Writer.LeftOut]).
//
// Everything is written through os.Root with O_EXCL into a directory that did not exist before. Links
// are created last, after all of them have been checked together in memory, so no write can pass
// through one. Nothing is synced, and the permissions of the parent must protect the directory from
// other processes.
package treewriter
