// Package treewriter writes the canonical tree of a module package into a new
// directory, whatever the package came from: an archive, git objects, another
// directory.
//
// A canonical tree is the package's regular files, directories and relative
// symbolic links. Files have mode 0644 or 0755 and directories 0755, whatever
// the umask says; owners, times and all other attributes are not kept.
//
// The names come from strangers. Those that [pathsafe.Name] refuses are refused
// with a *[PathError], and so are
//
//   - a second file of a name, and a file where a directory or link is
//   - names that the file system holds as one although they differ
//
// Symbolic links that [pathsafe.WrittenTarget] or [pathsafe.Resolver] refuses (that
// are absolute, not clean, lead out of the tree, to nothing, through a file or in
// a circle) are left out, and [Writer.LeftOut] has them: they
// are never made, so that nothing can follow them. A link that leads through one
// of them is one itself. The directory of such a link stays, even if nothing else
// is in it. A link to a directory that it lies in is none of these. An entry of a
// link's name, or below it, is refused even if the link is left out. [CopyTree],
// for trees that were written before, refuses such links.
//
// Names that are fine here and not elsewhere (those that Windows reserves, and
// pairs that differ only in case or in Unicode normalisation) are counted for
// one warning, or refused if [Limits].Portable is set.
//
// Everything is written through os.Root, with O_EXCL, into a directory that
// did not exist; links are made last, after all of them were checked together
// in memory. So no write can pass through a link, in whatever order the entries
// come. What the package does not do: protect the directory from other
// processes, which its parent's permissions must, and sync it to disk.
package treewriter
