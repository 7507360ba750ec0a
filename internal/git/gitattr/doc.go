// Package gitattr applies the attributes that a repository commits to the
// content of its files, as "git checkout" does for a user who has no settings
// of their own. The result is the same on all platforms.
//
// [Rules] holds the rules of a commit's .gitattributes files, in the format of
// gitattributes(5), and says which [Conversion] a path gets. Only attributes that
// change content count:
//
//   - text, eol and the older crlf: eol=crlf, also with text or text=auto, turns
//     LF into CRLF. With text=auto a file is left alone if it is binary by git's
//     rule (it has a NUL or a lone CR, or too many control characters), or
//     has a CRLF. Nothing else changes line ends: git never turns CRLF into
//     LF on checkout. Text without eol has the line ends of the commit.
//   - ident: $Id$ becomes "$Id: " followed by the blob's object name and " $".
//   - working-tree-encoding: the UTF-8 of the commit is written in the
//     encoding. UTF-16 and UTF-32 are little-endian with a byte order mark,
//     as by git on Linux.
//
// They are applied in this order: ident, line ends, encoding. Macros count, both
// the built-in "binary" and those that the top directory's file defines.
//
// What does not count: filter (no program is run), export-subst and
// export-ignore (they are for "git archive"), all attributes from outside the
// commit, and .gitattributes that are symbolic links.
//
// # Differences from git
//
//   - Patterns are case-sensitive, as with core.ignoreCase=false.
//   - Encodings are those of golang.org/x/text with a name in the IANA registry,
//     some further names that iconv has for them, and git's UTF-16LE-BOM. What
//     is in another one stays UTF-8, as with a git whose iconv does not know the
//     encoding.
//
// # Limits
//
// A .gitattributes file has at most 1 MiB, all files of a commit together have at
// most 20,000 rules that concern the attributes above, and matching takes a
// bounded number of steps. More is an error that wraps [ErrTooLarge]. Lines
// of 2,048 bytes or more are ignored, as by git.
package gitattr
