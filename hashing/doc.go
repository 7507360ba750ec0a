// Package hashing computes and compares hashes of module packages: the h1:
// hash that the field knows, and the strict t1: hash of this project. It reads
// a tree once and computes both from the list of what it found, which can be
// kept as text and compared later, file by file.
//
// # The tree
//
// What is hashed are the regular files of a directory, its symbolic links and
// its empty directories. These rules keep the hash from depending on anything
// else, and from reading anything else:
//
//   - Version control metadata, that is everything named .git, .hg, .svn or
//     .bzr at any depth, is left out. It differs between two clones of one
//     commit. A directory that holds nothing else counts as empty.
//   - Links are never followed by the operating system. Each must lead to a
//     file or directory of the same tree; one that is absolute, dangling, in a
//     circle or leads out of the tree, even to come back, is an error. Package
//     getmodules leaves such links out when it writes a package's tree, so that
//     neither h1 nor t1 of a package covers them; the directory of such a link,
//     if nothing else is in it, is an empty directory.
//   - Devices, sockets, FIFOs and the like are errors. They are not opened.
//   - Names and link targets are valid UTF-8 without control characters, and
//     paths and targets have at most 4,096 bytes. Names that differ in Unicode
//     normalisation are different names.
//   - A tree has at most 1,000,000 entries.
//   - A file whose size changes while it is read is an error.
//
// Owners, times and all permissions but the owner's execute bit are not seen.
// Paths are relative to the tree and have forward slashes.
//
// # h1
//
// "h1:" is the scheme of the go command's checksums (golang.org/x/mod/sumdb/dirhash,
// Hash1), which provider locks use too: the SHA-256, in padded standard base64,
// of one line for each file in the order of the paths' bytes: the SHA-256 of its
// content in hexadecimal, two spaces, the path, a newline. A link to a file
// counts as a file with the content of that file; a link to a directory and an
// empty directory do not count. For trees of plain files this is what
// dirhash.HashDir returns with an empty prefix.
//
// # t1
//
// "t1:" also tells apart what h1 does not: execute bits, links from files, where
// links lead, and empty directories. It is "t1:" and the padded standard base64
// of the SHA-256 of these bytes, where a number is 8 bytes, big-endian:
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
// Directories that are not empty have no entry; the paths imply them. A link's
// target is what the link says, with forward slashes. Every field is of a fixed
// length or has its length in front, so different trees have different bytes.
//
// Test vectors and a second implementation in Python are in testdata/hash.
//
// # Limits
//
//   - On file systems without execute bits, as on Windows, a tree with
//     executable files has another t1 than elsewhere. Its h1 is the same.
//   - The package reads a tree; it does not keep other processes from changing
//     it meanwhile. Only a change of a file's size is sure to be noticed.
//   - "zh:" hashes, of archives, are parsed and never computed.
package hashing
