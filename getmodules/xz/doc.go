// Package xz decompresses .tar.xz and .txz module archives. It is a separate package so that programs that do
// not need the format do not link it:
//
//	fetcher := getmodules.Fetcher{XZ: xz.NewReader}
//
// A file is one stream in the format of https://tukaani.org/xz/xz-file-format.txt (1.2.1), with any number of
// blocks and LZMA2 as the only filter, as in go-getter and the stock tools. [NewReader] checks all that the
// format defines. It stops after the footer, so that its caller can refuse other data. The caller limits the
// size of the content.
//
// Package github.com/ulikunitz/xz/lzma decodes LZMA2. The container is read here, because that module's
// reader, which go-getter uses too, trusts the sizes in a file, and a wrapper could not limit them without
// parsing the blocks:
//
//   - It allocates a dictionary of up to 4 GiB before any content. Here the limit is 64 MiB, which "xz -9"
//     uses, and the content that the block's header announces.
//   - It does so for each block. Here all dictionaries together have at most 64 MiB plus 16 times the content
//     so far.
//   - It keeps 16 bytes for each block to compare them with the index. Here a hash of them is kept.
package xz
