// Package gitattr applies the attributes that a repository commits to the content of its files,
// as "git checkout" does for a user without settings. The result is the same on all platforms.
//
// [Rules] contains the rules in a commit's .gitattributes files, which have the format of
// gitattributes(5). It returns the [Conversion] for a path. Only attributes that change content
// are used:
//
//   - text, eol and the older crlf: eol=crlf, also together with text or text=auto, converts LF
//     to CRLF. With text=auto a file is left alone if it has a CRLF, or if it is binary by
//     git's rule: it has a NUL, a lone CR, or too many control characters. Nothing else changes
//     line ends, because git never converts CRLF to LF on checkout. Text without eol keeps the
//     line ends of the commit.
//   - ident: $Id$ becomes "$Id: " followed by the blob's object name and " $".
//   - working-tree-encoding: the UTF-8 of the commit is converted to the encoding. UTF-16 and
//     UTF-32 are little-endian with a byte order mark, as with git on Linux.
//
// They are applied in this order: ident, line ends, encoding. Macros are supported, both the
// built-in "binary" and those that the top directory's file defines.
//
// These have no effect: filter (no program is run), export-subst and export-ignore (they are
// for "git archive"), all attributes from outside the commit, and .gitattributes files that are
// symbolic links.
//
// # Differences from git
//
//   - Patterns are case-sensitive, as with core.ignoreCase=false.
//   - The supported encodings are those of golang.org/x/text with a name in the IANA registry,
//     under that name or some further names that iconv accepts, and git's UTF-16LE-BOM. A file
//     in another encoding stays UTF-8, as with a git whose iconv does not know the encoding.
//
// # Limits
//
// A .gitattributes file has at most 1 MiB. All files of a commit together have at most 20,000
// rules for the attributes above. Matching takes a bounded number of steps. Exceeding these
// limits is an error that wraps [ErrTooLarge]. Lines of 2,048 bytes or more are ignored, as by
// git.
package gitattr
