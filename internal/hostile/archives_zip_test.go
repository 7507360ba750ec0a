package hostile_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

func zipSample() []byte { return zipOf(zipFile("main.tf", "# text\n")) }

// zipDisagreements changes one byte at a time in a valid archive, so that the local header, the
// directory, the end or the content contradicts the rest.
func zipDisagreements(yield func(class, name string, bytes []byte) bool) bool {
	good := zipSample()
	central, end := zipCentralAt(good), zipEndAt(good)
	if !yield("archive/good", "zip", good) {
		return false
	}
	parts := []struct {
		class    string
		base     int
		from, to int
	}{
		{"zip/local", 0, 0, 4}, {"zip/local", 0, 6, 10}, {"zip/local", 0, 14, 37}, {"zip/content", 0, 37, central},
		{"zip/directory", central, 0, 4}, {"zip/directory", central, 8, 12}, {"zip/directory", central, 16, 36}, {"zip/directory", central, 42, 53},
		{"zip/end", end, 0, zipEndSize},
	}
	for _, part := range parts {
		for at := part.base + part.from; at < part.base+part.to; at++ {
			for _, bits := range []byte{0x01, 0x80} {
				if !yield(part.class, fmt.Sprintf("byte %d ^ %#x", at-part.base, bits), flipped(good, at, bits)) {
					return false
				}
			}
		}
	}
	// Bytes that no program uses may have any value.
	for _, at := range []int{4, 10, 11, 12, 13, central + 4, central + 12, central + 15, central + 36} {
		if !yield("zip/ignored", fmt.Sprintf("byte %d", at), flipped(good, at, 1)) {
			return false
		}
	}
	return true
}

func zipKinds(yield func(class, name string, bytes []byte) bool) bool {
	for method := uint16(1); method < 100; method++ {
		if method == zip.Deflate {
			continue
		}
		archive := zipOf(zipEntry{name: "a", text: "1", mode: unixFile, change: func(h *zip.FileHeader) { h.Method = method }})
		if !yield("zip/method", fmt.Sprint(method), archive) {
			return false
		}
	}
	for bit := range 16 {
		if flag := uint16(1) << bit; flag != 0x2 && flag != 0x4 && flag != 0x8 && flag != 0x800 {
			if !yield("zip/flag", fmt.Sprintf("%#04x", flag), zipOf(zipEntry{name: "a", text: "1", mode: unixFile, flags: flag})) {
				return false
			}
		}
	}
	for kind := uint32(1); kind < 16; kind++ {
		mode := kind<<12 | 0o644
		switch mode &^ 0o777 {
		case unixFile, unixLink:
		default: // a directory without a slash among them
			if !yield("zip/mode", fmt.Sprintf("%#o", mode), zipOf(zipFile("ok", "1"), zipEntry{name: "a", text: "1", mode: mode})) {
				return false
			}
		}
	}
	for _, mode := range []uint32{unixFile, unixFile | 0o4755, unixFile | 0o2755, unixFile | 0o1777, unixFile | 0o666, unixFile | 0o7777} {
		if !yield("archive/permissions", fmt.Sprintf("zip %#o", mode), zipOf(zipEntry{name: "a", text: "1", mode: mode})) {
			return false
		}
	}
	return zipExtras(yield)
}

func zipExtras(yield func(class, name string, bytes []byte) bool) bool {
	extras := map[string][]byte{
		"second name":     append([]byte{0x75, 0x70, 9, 0, 1, 0, 0, 0, 0}, "evil"...),
		"no second name":  {0x75, 0x70, 0, 0},
		"zip64":           {1, 0, 16, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
		"empty zip64":     {1, 0, 0, 0},
		"longer than all": {0xff, 0x70, 0xff, 0xff},
		"cut":             {0x75},
	}
	for name, extra := range extras {
		archive := zipOf(zipEntry{name: "a", text: "1", mode: unixFile, change: func(h *zip.FileHeader) { h.Extra = extra }})
		if !yield("zip/extra", name, archive) {
			return false
		}
	}
	return true
}

func zipEnds(yield func(class, name string, bytes []byte) bool) bool {
	good := zipSample()
	end := good[zipEndAt(good):]
	noEntries := bytes.Clone(end)
	copy(noEntries[8:20], make([]byte, 12))
	cases := map[string][]byte{
		"something in front":       append([]byte("#!/bin/sh\n"), good...),
		"another archive in front": append(zipOf(zipFile("other", "2")), good...),
		"something behind":         append(bytes.Clone(good), "more"...),
		"another archive behind":   append(bytes.Clone(good), zipOf(zipFile("other", "2"))...),
		"an empty one behind":      append(bytes.Clone(good), noEntries...),
		"comment without length":   append(bytes.Clone(good), "comment"...),
		"comment cut":              append(put16(good, zipEndAt(good)+20, 100), "comment"...),
		"an end in the comment":    append(put16(good, zipEndAt(good)+20, zipEndSize), noEntries...),
		"hidden entry":             zipHidden(),
		"gap":                      zipGap(),
		"overlap":                  zipOverlap(),
		"encrypted":                zipOf(zipEntry{name: "a", text: "secret text  ", mode: unixFile, flags: 1}),
		"size of 4 GiB":            put32(put32(good, 22, 1<<32-1), zipCentralAt(good)+24, 1<<32-1),
		"both sizes of 4 GiB":      put32(put32(put32(put32(good, 18, 1<<32-1), 22, 1<<32-1), zipCentralAt(good)+20, 1<<32-1), zipCentralAt(good)+24, 1<<32-1),
		"65535 entries":            put16(put16(good, zipEndAt(good)+8, 1<<16-1), zipEndAt(good)+10, 1<<16-1),
		"directory at 4 GiB":       put32(good, zipEndAt(good)+16, 1<<32-1),
	}
	for name, archive := range cases {
		if !yield("zip/ends", name, archive) {
			return false
		}
	}
	return yield("archive/good", "zip with a comment", append(put16(good, zipEndAt(good)+20, 7), "comment"...)) &&
		yield("archive/empty", "zip", noEntries) && yield("archive/empty", "zip of directories", zipOf(zipDir("a"), zipDir("b")))
}

// zipHidden returns an archive with an entry that is not in the directory.
func zipHidden() []byte {
	two := zipOf(zipFile("hidden", "1"), zipFile("a", "2"))
	central, end := zipCentralAt(two), zipEndAt(two)
	first := 46 + len("hidden")
	out := append(bytes.Clone(two[:central]), two[central+first:]...)
	out = put16(put16(out, end-first+8, 1), end-first+10, 1)
	return put32(out, end-first+12, uint32(end-central-first))
}

// zipGap returns an archive with bytes that do not belong to any entry.
func zipGap() []byte {
	good := zipSample()
	central := zipCentralAt(good)
	out := append(append(bytes.Clone(good[:central]), "gap!"...), good[central:]...)
	return put32(out, zipEndAt(out)+16, uint32(central+4))
}

// zipOverlap returns an archive with two entries that share their content.
func zipOverlap() []byte {
	two := zipOf(zipFile("a", "1"), zipFile("a", "1"))
	central := zipCentralAt(two)
	second := central + 46 + 1
	return put32(two, second+42, binary.LittleEndian.Uint32(two[central+42:]))
}

// zipBomb returns an archive with a file of zeros.
func zipBomb(size int) []byte {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestSpeed)
	sum := crc32.NewIEEE()
	writeZeros(io.MultiWriter(w, sum), size)
	_ = w.Close()
	change := func(h *zip.FileHeader) {
		h.Method, h.CRC32 = zip.Deflate, sum.Sum32()
		h.UncompressedSize64, h.CompressedSize64 = uint64(size), uint64(packed.Len())
	}
	return zipOf(zipEntry{name: "zeros", text: packed.String(), mode: unixFile, change: change})
}
