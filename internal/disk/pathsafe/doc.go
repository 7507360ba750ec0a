// Package pathsafe defines which names and links the tree of a package may have, for those who write
// trees (treewriter) and who read them (hashing), and which directories of the user are protected from
// other users ([CheckOwners]). Rules for reading are less strict than those for writing, because users
// and modules put files into installed trees.
//
// Links are followed in the list of a tree's entries and never on disk, but with the result of the
// kernel ([Resolver]). Functions return the reason why something is refused as the end of a sentence
// ("holds a backslash, ..."), or "" if it is accepted.
package pathsafe
