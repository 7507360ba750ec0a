// Package treewriter writes the canonical tree of a module package into a new
// directory, whatever the package came from: an archive, git objects, another
// directory.
//
// A canonical tree is the package's regular files, directories and relative
// symbolic links. Files have mode 0644 or 0755 and directories 0755, whatever
// the umask says; owners, times and all other attributes are not kept.
//
// The names are untrusted. Those that [pathsafe.Name] refuses are refused with a
// *[PathError], and so are
//
//   - a second file of a name, and a file where a directory or link is
//   - different names that the file system treats as the same
//
// Symbolic links that [pathsafe.WrittenTarget] or [pathsafe.Resolver] refuses are left
// out: links that are absolute or not clean, and links that point out of the tree, to
// nothing, through a file or in a circle. They are never made, so nothing can follow
// them; [Writer.LeftOut] lists them. A link that passes through one of them is left
// out too. The directory of such a link stays, even if it is then empty. A link to a
// directory that contains it is allowed. An entry with a link's name, or below it, is
// refused even if the link is left out. [CopyTree], for trees that were written
// before, refuses such links.
//
// Names that this system can store and others cannot (those that Windows reserves,
// and pairs that differ only in case or in Unicode normalisation) are counted for one
// warning, or refused if [Limits].Portable is set.
//
// Everything is written through os.Root, with O_EXCL, into a directory that
// did not exist; links are made last, after all of them were checked together
// in memory. So no write can pass through a link, in whatever order the entries
// come. The package does not sync the directory to disk, and does not protect it from
// other processes: the permissions of its parent must do that.
package treewriter
