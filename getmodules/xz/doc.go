// Package xz decompresses .tar.xz and .txz module archives, for [getmodules.Fetcher].XZ:
//
//	fetcher := getmodules.Fetcher{XZ: xz.NewReader}
//
// It is a separate package so that programs that do not need the format do not link it.
//
// # Format
//
// A file is one stream in the format of https://tukaani.org/xz/xz-file-format.txt (1.2.1), with
// any number of blocks and LZMA2 as the only filter, as in go-getter and the stock tools.
// [NewReader] checks all that the format defines. It stops after the footer, so that its caller
// can refuse stream padding, further streams and other data.
//
// # Why the container is read here
//
// Package github.com/ulikunitz/xz/lzma decodes LZMA2. That module's reader of the container, which
// go-getter uses too, trusts the sizes in a file:
//
//   - It allocates a dictionary of up to 4 GiB, as a block header says, before any content. Here the
//     limit is 64 MiB, which is the size that "xz -9" uses, and never more than the content that
//     the header announces.
//   - It does so for each block. Here the dictionaries of all blocks together are limited to 64 MiB
//     plus 16 times the content so far.
//   - It keeps 16 bytes for each block to compare them with the index. Here a hash of them is kept.
//
// Where a block starts is not visible from outside of that reader, so a wrapper could not add these
// limits without parsing the blocks. The caller limits the size of the content.
package xz
