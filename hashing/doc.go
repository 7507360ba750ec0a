// Package hashing computes and compares hashes of module packages: the common h1: hash, and the stricter t1:
// hash of this project. It reads a tree once and computes both from the list of its entries, which can be
// stored as text and compared later, file by file. docs/spec/lock-format.md has the formats, and
// conformance/testdata/trees has test vectors.
//
//   - "h1:" is the scheme of the go command's checksums (golang.org/x/mod/sumdb/dirhash, Hash1), with an empty
//     prefix. A link to a file counts as a file with the same content; links to directories and empty
//     directories do not count.
//   - "t1:" also covers execute bits, the difference between links and files, the targets of links, and empty
//     directories. A number in it is 8 bytes, big-endian, and every field has a fixed length or is preceded by
//     its length, so different trees have different bytes.
//   - "zh:" hashes, which cover archives, are parsed but not computed.
//
// Version control metadata (.git, .hg, .svn and .bzr, at any depth) is ignored, because it differs between
// clones of the same commit. Each link must point to a file or directory of the same tree: it is an error if it
// is absolute, dangling, part of a cycle, or passes outside. So are devices and pipes, which are not opened, names
// with a newline, more than 1,000,000 entries, and a file whose size changes while it is read. All other names are
// hashed by their bytes. Owners, times and all permissions except the owner's execute bit are ignored. On file
// systems without execute bits, as on Windows, a tree with executable files has a different t1.
package hashing
