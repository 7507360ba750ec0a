// Package xz decompresses .tar.xz and .txz module archives, for [getmodules.Fetcher].XZ:
//
//	fetcher := getmodules.Fetcher{XZ: xz.NewReader}
//
// It is a separate package so that programs that do not need the format do not link it.
//
// # Format
//
// A file is one stream in the format of https://tukaani.org/xz/xz-file-format.txt (1.2.1), with
// any number of blocks. [NewReader] checks headers, sizes, checksums (none, CRC32, CRC64,
// SHA-256), padding, the index and the footer. It stops after the footer, so that its caller
// can refuse any data that follows: stream padding, further streams and other data. The only
// supported filter is LZMA2. Other filters (delta, and those for executables) are not
// supported; neither go-getter nor the stock tools support them.
//
// Package github.com/ulikunitz/xz/lzma decodes LZMA2. This package reads the container itself,
// because that module's reader allocates a dictionary of the size in a block header, which may
// be 4 GiB.
//
// # Limits
//
// A dictionary is limited to 64 MiB, which is the size that `xz -9` uses. It is allocated after
// this check, and is never larger than the content that the block header announces. The
// dictionaries of all blocks together are limited to 64 MiB plus 16 times the content so far.
// This limits the cost of a file of many small blocks with large dictionaries, which takes time
// rather than space. The caller limits the size of the content.
//
// # Why go-getter's decompressor is not used
//
// go-getter decompresses xz with the same module. These are the problems of its decompressor,
// measured with go-getter/v2 v2.2.5. It reads the file byte by byte, with one system call each
// (31 s for an archive of 30 MB that takes 10 s here). It cannot be canceled, truncates at its
// size limit without an error, needs a second copy of the content on disk, and has no limit for
// dictionaries. Linking it adds 1.1 MB to the command.
package xz
