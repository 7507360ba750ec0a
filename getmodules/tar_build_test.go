package getmodules_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"testing"
)

// tarOf returns a complete tar file written by archive/tar.
func tarOf(t testing.TB, headers ...tarRaw) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		h.Size = int64(len(h.text))
		if err := w.WriteHeader(&h.Header); err != nil {
			t.Fatalf("header %q: %v", h.Name, err)
		}
		if _, err := w.Write([]byte(h.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type tarRaw struct {
	tar.Header
	text string
}

func tarFile(name, text string) tarRaw {
	return tarRaw{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, text}
}

func tarDir(name string) tarRaw {
	return tarRaw{tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}, ""}
}

func tarLink(name, target string) tarRaw {
	return tarRaw{tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777}, ""}
}

// tarBlocks returns one handmade entry, which may be invalid: a ustar header with any type
// and size, and a body padded to whole blocks.
func tarBlocks(flag byte, name, link string, size int, body string) []byte {
	block := make([]byte, 512)
	copy(block, name)
	copy(block[100:], "0000644\x00")
	copy(block[108:], "0000000\x000000000\x00")
	copy(block[124:], fmt.Sprintf("%011o\x00", size))
	copy(block[136:], "00000000000\x00")
	block[156] = flag
	copy(block[157:], link)
	copy(block[257:], "ustar\x0000")
	sum := 8 * int(' ')
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	block = append(block, body...)
	return append(block, make([]byte, (512-len(block)%512)%512)...)
}

// tarPAX returns an extended header (flag 'x') or a global one (flag 'g').
func tarPAX(flag byte, records ...string) []byte {
	body := ""
	for _, record := range records {
		size := len(record) + 3
		for size != len(fmt.Sprintf("%d %s\n", size, record)) {
			size = len(fmt.Sprintf("%d %s\n", size, record))
		}
		body += fmt.Sprintf("%d %s\n", size, record)
	}
	return tarBlocks(flag, "pax", "", len(body), body)
}

// tarEnd joins handmade entries and appends the end of the tar file.
func tarEnd(parts ...[]byte) []byte {
	return append(bytes.Join(parts, nil), make([]byte, 1024)...)
}

func gzipped(plain []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(plain)
	_ = w.Close()
	return out.Bytes()
}

// tarBzip2 returns a tar.bz2 file, which Go cannot write. It contains "main.tf" with the
// text "x", and "l", a link to main.tf.
func tarBzip2(t testing.TB) []byte {
	t.Helper()
	archive, err := base64.StdEncoding.DecodeString(tarBzip2Text)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

const tarBzip2Text = "QlpoOTFBWSZTWeXODa0AAJ77lMmAAEBAAX2AACDhJ55ABAABAAAIIAB1CUJAAaNMhoAKpEmJkGQ00Gmyn08PONtUCW87wRl3tdpzM+myTFxMJIgMCKJM0cIIRlSQFBKCCl5GyT1cy1s8ZCbU+LK37ND8XM2SjgUbqa16og/i7kinChIcucG1oA=="
