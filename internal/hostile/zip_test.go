package hostile_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
)

type zipEntry struct {
	name, text string
	mode       uint32 // of unix, with the type
	deflated   bool
	flags      uint16
	change     func(*zip.FileHeader)
}

const (
	unixFile = 0o100000
	unixDir  = 0o040000
	unixLink = 0o120000
)

func zipFile(name, text string) zipEntry {
	return zipEntry{name: name, text: text, mode: unixFile | 0o644}
}
func zipDir(name string) zipEntry { return zipEntry{name: name + "/", mode: unixDir | 0o755} }
func zipLink(name, target string) zipEntry {
	return zipEntry{name: name, text: target, mode: unixLink | 0o777}
}

func zipOf(entries ...zipEntry) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		data := []byte(e.text)
		header := &zip.FileHeader{
			Name:               e.name,
			Flags:              e.flags,
			CreatorVersion:     3<<8 | 20, // unix
			ExternalAttrs:      e.mode << 16,
			CRC32:              crc32.ChecksumIEEE(data),
			UncompressedSize64: uint64(len(data)),
		}
		if e.deflated {
			header.Method = zip.Deflate
			data = deflate(data)
		}
		header.CompressedSize64 = uint64(len(data))
		if e.change != nil {
			e.change(header)
		}
		// Nothing can fail here: the buffer accepts everything, and a header is written unchanged.
		body, _ := w.CreateRaw(header)
		if body != nil {
			_, _ = body.Write(data)
		}
	}
	_ = w.Close()
	return out.Bytes()
}

func deflate(text []byte) []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestSpeed)
	_, _ = w.Write(text)
	_ = w.Close()
	return out.Bytes()
}

// Offsets of the records in a zip archive with a single entry and no comment.
const zipEndSize = 22

func zipEndAt(archive []byte) int { return len(archive) - zipEndSize }

func zipCentralAt(archive []byte) int {
	return int(binary.LittleEndian.Uint32(archive[zipEndAt(archive)+16:]))
}

func put16(b []byte, at int, v uint16) []byte {
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint16(b[at:], v)
	return b
}

func put32(b []byte, at int, v uint32) []byte {
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint32(b[at:], v)
	return b
}

func flipped(b []byte, at int, bits byte) []byte {
	b = bytes.Clone(b)
	b[at] ^= bits
	return b
}
