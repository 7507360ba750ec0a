// Package pathsafe defines which names and links the tree of a module package may have, and which
// directories of the user are protected from other users ([CheckOwners]). The
// packages that write trees (treewriter, and getmodules through it) and the package that reads
// them (hashing) use the same rules.
//
// Functions return the reason why something is refused as the end of a sentence ("holds a
// backslash, ..."), or "" if it is accepted.
//
// # Names
//
// A path is relative and has forward slashes. [Text] is the rule for every text that is read:
// valid UTF-8 without control characters (C0, C1, DEL). Names in trees that are written must also
// comply with [Name], which has further rules:
//
//   - no bidi controls, line separators, byte order marks or backslashes
//   - no empty component, "." or ".."
//   - components of at most 255 bytes, paths of at most 1,024, at most 64 deep
//   - no version control metadata in any spelling, by [IsVersionControl]
//
// The rules for reading are less strict, because users and modules put files into installed
// trees. Paths may have 4,096 bytes ([MaxReadPath]), and only metadata in its exact spelling
// ([IsMetadata]) is skipped, as git and dirhash do.
//
// Settings that name files use [VersionControlPart]: files that Cotter writes are never in
// metadata, however the path is spelled.
//
// [Unportable] reports names that Windows cannot store. Names that only some file systems
// distinguish (case, normalization) are checked by treewriter, which knows the whole tree.
//
// # Links
//
// Links are followed in the list of a tree's entries, never on disk, but with the same result as
// in the kernel: component by component, replacing each link by its target, with at most 40 links
// ([MaxHops]). [Resolver] implements this. It refuses links that point out of the tree, to
// nothing, through a file or in a cycle. [Target] is the rule for the text of a target that is
// read. [WrittenTarget] is stricter and applies to trees that are written; their targets must
// also be clean.
package pathsafe
