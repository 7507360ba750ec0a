package getmodules_test

import (
	"archive/tar"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

func TestArchiveLimits(t *testing.T) {
	t.Parallel()
	ten := strings.Repeat("x", 10)
	archives := map[string][]byte{
		"zip":    newZip(rawFile("d/a", ten), rawStored("d/b", ten)).bytes(),
		"tar.gz": gzipped(tarOf(t, tarFile("d/a", ten), tarFile("d/b", ten))),
	}
	tests := map[string]struct {
		limits getmodules.Limits
		fits   bool
	}{
		"fit":       {getmodules.Limits{FileBytes: 10, TreeBytes: 20, Entries: 3, DownloadBytes: 1000}, true},
		"file":      {getmodules.Limits{FileBytes: 9}, false},
		"tree":      {getmodules.Limits{TreeBytes: 19}, false},
		"entries":   {getmodules.Limits{Entries: 2}, false},
		"first one": {getmodules.Limits{Entries: 1}, false},
		"download":  {getmodules.Limits{DownloadBytes: 50}, false},
	}
	for kind, archive := range archives {
		for name, test := range tests {
			_, _, err := extract(t, kind, archive, test.limits)
			if test.fits && err != nil || !test.fits && !errors.Is(err, getmodules.ErrTooLarge) {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
		}
	}
}

// TestRatio checks that a highly compressed archive is refused. It contains 65 MiB of
// zeros, which deflate compresses by about 1000:1.
func TestRatio(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, 65<<20)
	header := zipRawHeader{name: "a", method: 8, crc: crc32.ChecksumIEEE(zeros), size: uint32(len(zeros))}
	for name, archive := range map[string]struct {
		kind string
		data []byte
	}{
		"zip":              {"zip", newZip(rawPacked(header, deflatedWithZeros(nil, zeros))).bytes()},
		"tar.gz":           {"tar.gz", gzippedWithZeros(tarBlocks(tar.TypeReg, "a", "", len(zeros), ""), zeros)},
		"zeros behind tar": {"tar.gz", gzippedWithZeros(tarOf(t, tarFile("a", "")), zeros)}, // zeros after the end of the tar file count too
	} {
		if _, _, err := extract(t, archive.kind, archive.data, getmodules.Limits{}); !errors.Is(err, getmodules.ErrTooLarge) {
			t.Errorf("%s: error is %v, want ErrTooLarge", name, err)
		}
	}
}

// gzippedWithZeros returns a gzip file of text followed by zeros, whose length is a
// multiple of 1 MiB.
func gzippedWithZeros(text, zeros []byte) []byte {
	sum := crc32.Update(crc32.ChecksumIEEE(text), crc32.IEEETable, zeros)
	stream := append([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"), deflatedWithZeros(text, zeros)...)
	stream = binary.LittleEndian.AppendUint32(stream, sum)
	return binary.LittleEndian.AppendUint32(stream, uint32(len(text)+len(zeros)))
}

// deflatedWithZeros is like gzippedWithZeros, but returns the deflate stream without
// gzip's header and trailer. It compresses one mebibyte of the zeros and repeats the
// result.
func deflatedWithZeros(text, zeros []byte) []byte {
	var packed bytes.Buffer
	flush := func(part []byte) {
		w, _ := flate.NewWriter(&packed, flate.BestCompression)
		_, _ = w.Write(part)
		_ = w.Flush()
	}
	flush(text)
	start := packed.Len()
	flush(zeros[:1<<20])
	mebibyte := bytes.Clone(packed.Bytes()[start:])
	packed.Write(bytes.Repeat(mebibyte, len(zeros)>>20-1))
	packed.Write([]byte{1, 0, 0, 0xff, 0xff}) // the final block, which is empty
	return packed.Bytes()
}

// TestOverlap checks that a zip file is refused if many directory entries share the data
// of one compressed file.
func TestOverlap(t *testing.T) {
	t.Parallel()
	kernel := rawFile("a", strings.Repeat("\x00", 1<<20))
	entries := []*zipRaw{kernel}
	size := len(kernel.local.encode(make([]byte, 6), nil)) + len(kernel.data)
	for i := range 1000 {
		other := *kernel
		other.central.name = fmt.Sprintf("a%d", i)
		other.data, other.local.name, other.shift = nil, "", -size
		size += len(other.local.encode(make([]byte, 6), nil))
		entries = append(entries, &other)
	}
	_, _, err := extract(t, "zip", newZip(entries...).bytes(), getmodules.Limits{})
	wantRefused(t, "overlap", err)
}
