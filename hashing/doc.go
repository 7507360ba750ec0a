// Package hashing computes and compares hashes of module packages: the common h1: hash, and
// the stricter t1: hash of this project. It reads a tree once and computes both from the
// list of its entries. The list can be stored as text and compared later, file by file.
//
// # The tree
//
// The hashes cover the regular files of a directory, its symbolic links and its empty
// directories. These rules ensure that nothing else is hashed or read:
//
//   - Version control metadata is ignored, because it differs between clones of the same
//     commit. It consists of everything named .git, .hg, .svn or .bzr, at any depth. A
//     directory with nothing else is treated as empty.
//   - The operating system never follows links. Each link must point to a file or
//     directory of the same tree. A link is an error if it is absolute, dangling, part of
//     a cycle, or passes outside of the tree. Package getmodules omits such links when it
//     writes a package's tree, so the hashes of a package do not cover them. A directory
//     with only such links is an empty directory.
//   - Devices, sockets, FIFOs and similar files are errors. They are not opened.
//   - Names and link targets must be valid UTF-8 without control characters. Paths and
//     targets have at most 4,096 bytes. Names that differ in Unicode normalization are
//     different names.
//   - A tree has at most 1,000,000 entries.
//   - A file whose size changes while it is read is an error.
//
// Owners, times and all permissions except the owner's execute bit are ignored. Paths are
// relative to the tree and have forward slashes.
//
// # h1
//
// "h1:" is the scheme of the go command's checksums (golang.org/x/mod/sumdb/dirhash,
// Hash1), which provider locks use too. It is the SHA-256, in padded standard base64, of
// one line for each file. The lines are in the order of the paths' bytes. A line has the
// SHA-256 of the file's content in hexadecimal, two spaces, the path, and a newline. A link
// to a file is hashed as a file with the same content; links to directories and empty
// directories are not included. For trees of plain files the result is that of
// dirhash.HashDir with an empty prefix.
//
// # t1
//
// "t1:" also covers execute bits, the difference between links and files, the targets of
// links, and empty directories. It is "t1:" and the padded standard base64 of the SHA-256
// of these bytes, where a number is 8 bytes, big-endian:
//
//	number     2, the length of the scheme's name
//	2 bytes    "t1"
//	number     of entries
//
// and for each entry, in the order of the paths' bytes:
//
//	number     of bytes of the path
//	bytes      the path
//	1 byte     kind: "f" file, "x" executable file, "l" link, "d" empty directory
//	number     of bytes of the content: a file's bytes, a link's target, nothing
//	           for a directory
//	32 bytes   SHA-256 of the content
//
// Directories that are not empty have no entry; the paths imply them. A link's target is
// its text, with forward slashes. Every field has a fixed length or is preceded by its
// length, so different trees have different bytes.
//
// Test vectors and a second implementation in Python are in conformance/testdata/trees.
//
// # Limits
//
//   - On file systems without execute bits, as on Windows, a tree with executable files
//     has a different t1. Its h1 is the same.
//   - The package does not prevent other processes from changing a tree while it is read.
//     Only a change of a file's size is reliably detected.
//   - "zh:" hashes, which cover archives, are parsed but not computed.
package hashing
