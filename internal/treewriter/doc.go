// Package treewriter writes the canonical tree of a module package into a new directory. The
// package may come from an archive, from git objects, or from another directory.
//
// A canonical tree consists of the package's regular files, directories and relative symbolic
// links. Files have mode 0644 or 0755 and directories 0755, regardless of the umask. Owners,
// times and all other attributes are not kept.
//
// The names are untrusted. Names that [pathsafe.Name] refuses are refused with a *[PathError],
// and so are
//
//   - a second file with the same name, and a file with the name of a directory or link
//   - different names that the file system treats as the same
//
// Symbolic links that [pathsafe.WrittenTarget] or [pathsafe.Resolver] refuses are left out: links
// that are absolute or not clean, and links that point out of the tree, to nothing, through a
// file or in a cycle. They are never created, so nothing can follow them; [Writer.LeftOut] lists
// them. A link that passes through one of them is left out too. The directory of such a link is
// kept, even if it is then empty. A link to a directory that contains it is allowed. An entry
// with a link's name, or below it, is refused even if the link is left out. [CopyTree] copies
// trees that were written before, so it refuses such links.
//
// If this system can store a name and others cannot, it is counted for a warning, or refused if
// [Limits].Portable is set. These are names that Windows reserves, and names that differ only in
// case or in Unicode normalization.
//
// Everything is written through os.Root with O_EXCL into a directory that did not exist before.
// Links are created last, after all of them have been checked together in memory. So no write can
// pass through a link, regardless of the order of the entries. The package does not sync the
// directory to disk. It does not protect the directory from other processes: the permissions of
// its parent must do that.
package treewriter
