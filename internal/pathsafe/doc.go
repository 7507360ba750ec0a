// Package pathsafe states which names and links the tree of a module package may
// have. Those who write trees (treewriter, and through it getmodules) and those
// who read them (hashing) use the same rules.
//
// Functions return the reason why something is refused, as the end of a sentence
// ("holds a backslash, ..."), and "" if nothing is wrong.
//
// # Names
//
// A path is relative and has forward slashes. [Text] is the rule for every text
// that is read: valid UTF-8 without control characters (C0, C1, DEL). Trees that
// are written are held to [Name], which has these rules in addition:
//
//   - no bidi controls, line separators, byte order marks or backslashes
//   - no empty component, "." or ".."
//   - components of at most 255 bytes, paths of at most 1,024, at most 64 deep
//   - no version control metadata in any spelling, by [IsVersionControl]
//
// Reading is laxer, because users and modules put files into installed trees:
// paths may have 4,096 bytes ([MaxReadPath]), and only metadata in its exact
// spelling ([IsMetadata]) is passed over, as git and dirhash do.
//
// [Unportable] names what Windows cannot hold. Names that only some file systems
// hold apart (case, normalisation) are for treewriter, which knows the whole tree.
//
// # Links
//
// A link is followed in the list of a tree's entries, never on disk, as the kernel
// would: component by component, with the target of each link in its place, and
// at most 40 links ([MaxHops]). [Resolver] is that rule. It refuses links that
// lead out of the tree, to nothing, through a file or in a circle. [Target] is the
// rule for the text of a target that is read, and [WrittenTarget] the stricter one
// for trees that are written, whose targets must also be clean.
package pathsafe
