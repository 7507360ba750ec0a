// Package xz decompresses .tar.xz and .txz module archives, for
// [getmodules.Fetcher].XZ:
//
//	fetcher := getmodules.Fetcher{XZ: xz.NewReader}
//
// It is a package of its own so that programs that do not need the format do
// not link it.
//
// # Format
//
// A file is one stream of https://tukaani.org/xz/xz-file-format.txt (1.2.1) with
// any number of blocks. [NewReader] checks headers, sizes, checksums (none,
// CRC32, CRC64, SHA-256), padding, the index and the footer. It stops after the
// footer, so that its caller can refuse what follows: stream padding, further
// streams and other data. The only filter is LZMA2. Other filters (delta and
// those for executables) are not supported; neither go-getter nor the stock
// tools support them.
//
// LZMA2 is decoded by github.com/ulikunitz/xz/lzma. The container is read here,
// because the container reader of that module allocates the dictionary that a
// block header asks for, up to 4 GiB.
//
// # Limits
//
// A dictionary has at most 64 MiB, which is what `xz -9` uses. It is allocated
// after this check, and never larger than the content that the block header
// announces. The dictionaries of all blocks together have at most 64 MiB plus 16
// times the content so far: a file of many small blocks with large dictionaries
// costs time, not space. The size of the content is limited by the caller.
//
// # Why go-getter's decompressor is not used
//
// go-getter decompresses xz with the same module. Measured with go-getter/v2
// v2.2.5: its decompressor reads the file byte by byte, one system call each
// (31 s for an archive of 30 MB that takes 10 s here), cannot be cancelled,
// truncates at its size limit without an error, needs a second copy of the
// content on disk, and has no limit for dictionaries. Linking it adds 1.1 MB to
// the command.
package xz
