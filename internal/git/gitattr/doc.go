// Package gitattr applies the attributes that a repository commits (gitattributes(5)) to the content of its
// files, as "git checkout" does on Linux for a user without settings: ident, then text, eol and crlf, then
// working-tree-encoding. No program is run for filter, and attributes from outside the commit and linked
// .gitattributes have no effect.
//
// Patterns are case-sensitive. A file in an encoding that golang.org/x/text does not know stays UTF-8, as with a
// git whose iconv does not know it.
package gitattr
