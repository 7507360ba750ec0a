package hostile_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// noise returns text that cannot be compressed, so that an archive of it is long.
func noise(size int) string {
	source := rand.NewChaCha8([32]byte{})
	text := make([]byte, size)
	_, _ = source.Read(text) // never returns an error
	return string(text)
}

// notArchives yields answers that servers may send instead of archives.
func notArchives(yield func(class, name string, bytes []byte) bool) bool {
	cases := map[string]string{
		"nothing":            "",
		"one byte":           "P",
		"HTML":               "<!DOCTYPE html><title>Sign in</title>",
		"HTML and a BOM":     "\ufeff\r\n <html>",
		"JSON":               `{"error": "no such package"}`,
		"text":               "404 page not found\n",
		"escape sequences":   "\x1b[2J\x1b]0;owned\x07",
		"zeros":              strings.Repeat("\x00", 1024),
		"noise":              noise(1024),
		"xz":                 "\xfd7zXZ\x00" + noise(100),
		"zstd":               "\x28\xb5\x2f\xfd" + noise(100),
		"7z":                 "7z\xbc\xaf\x27\x1c" + noise(100),
		"rar":                "Rar!\x1a\x07\x00" + noise(100),
		"tar":                string(tarOf(tarFile("a", "1"))),
		"zip's first bytes":  "PK\x03\x04",
		"gzip's first bytes": "\x1f\x8b\x08",
		"bzip2's first":      "BZh9",
		"zip's end alone":    "PK\x05\x06",
		"ELF":                "\x7fELF" + noise(100),
	}
	for name, text := range cases {
		if !yield("archive/none", name, []byte(text)) {
			return false
		}
	}
	return true
}

// bombs yields archives that expand disproportionately, or that exceed reduced limits.
func bombs(yield func(Case[Archive]) bool) {
	zeros := strings.Repeat("\x00", 1<<20)
	cases := []struct {
		name    string
		archive Archive
	}{
		{"zip of zeros", Archive{Bytes: zipBomb(66 << 20)}},
		{"tar.gz of zeros", Archive{Bytes: gzipZeros(tarRaw(tarHeader{name: "zeros", flag: '0', size: "00500000000\x00"}, ""), 66<<20)}},
		{"tar.gz of zeros behind its end", Archive{Bytes: gzipZeros(tarOf(tarFile("a", "1")), 66<<20)}},
		{"tar.bz2 of zeros", Archive{Bytes: bzip2Bomb()}},
		{"many small files in a zip", Archive{Bytes: zipOf(manyFiles(301)...), MaxEntries: 300}},
		{"many small files in a tar", Archive{Bytes: manyTar(301), MaxEntries: 300}},
		{"many directories by one name", Archive{Bytes: zipOf(zipFile(strings.Repeat("d/", 60)+"x", "")), MaxEntries: 60}},
		{"many directories in a tar", Archive{Bytes: tarGzip(tarPAX('x', "path="+strings.Repeat("d/", 60)+"x"), tarFile("x", "")), MaxEntries: 60}},
		{"one large file in a zip", Archive{Bytes: zipOf(zipFile("a", zeros)), MaxFile: 1<<20 - 1}},
		{"one large file in a tar", Archive{Bytes: tarGzip(tarFile("a", zeros)), MaxFile: 1<<20 - 1}},
		{"large together in a zip", Archive{Bytes: zipOf(zipFile("a", zeros), zipFile("b", zeros)), MaxBytes: 2<<20 - 1}},
		{"large together in a tar", Archive{Bytes: tarGzip(tarFile("a", zeros), tarFile("b", zeros)), MaxBytes: 2<<20 - 1}},
		{"more links than anybody needs", Archive{Bytes: manyLinks(1001)}},
	}
	for _, c := range cases {
		if !yield(Case[Archive]{"bomb", c.name, c.archive}) {
			return
		}
	}
	nested := zipOf(zipFile("inner.zip", string(zipBomb(1<<20))), zipFile("inner.tar.gz", string(tarGzip(tarFile("../x", "")))))
	_ = yield(Case[Archive]{"archive/good", "an archive in an archive", Archive{Bytes: nested}}) &&
		yield(Case[Archive]{"archive/good", "as much as is allowed", Archive{Bytes: zipOf(manyFiles(300)...), MaxEntries: 300}})
}

func gzipZeros(head []byte, size int) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	_, _ = w.Write(head)
	writeZeros(w, size)
	_ = w.Close()
	return out.Bytes()
}

// writeZeros writes zeros without using much memory itself.
func writeZeros(w io.Writer, size int) {
	block := make([]byte, 64<<10)
	for ; size > 0; size -= len(block) {
		_, _ = w.Write(block[:min(size, len(block))])
	}
}

func manyFiles(n int) []zipEntry {
	entries := make([]zipEntry, n)
	for i := range entries {
		entries[i] = zipFile(fmt.Sprintf("f%d", i), "")
	}
	return entries
}

func manyTar(n int) []byte {
	var entries [][]byte
	for i := range n {
		entries = append(entries, tarFile(fmt.Sprintf("f%d", i), ""))
	}
	return tarGzip(entries...)
}

func manyLinks(n int) []byte {
	entries := [][]byte{tarFile("ok", "")}
	for i := range n {
		entries = append(entries, tarLink(fmt.Sprintf("l%d", i), "ok"))
	}
	return tarGzip(entries...)
}

// bzip2Bomb returns a tar.bz2 file that contains a file of 512 MiB of zeros. Go cannot write
// bzip2, but a bzip2 file may consist of many streams: here, one with a header and many with
// zeros.
func bzip2Bomb() []byte {
	decode := func(text string) []byte {
		b, _ := base64.StdEncoding.DecodeString(text) // a constant
		return b
	}
	return append(decode(bzip2Header), bytes.Repeat(decode(bzip2Zeros), 600)...)
}

const (
	// bzip2Header contains the header of the file "zeros" of 512 MiB, and bzip2Zeros contains
	// 899,000 zeros.
	bzip2Header = "QlpoOTFBWSZTWQUoEboAACNbgMqAQABVgAAIYgCeEAgAIABUUNDRiGECUypp6IZGgZkZFsrWauZhArMhoguyqLqhxR3o0d+4Vnh48XxdyRThQkAUoEbo"
	bzip2Zeros  = "QlpoOTFBWSZTWSSe9J4ABuLAgMAAACAACCAAMMwJqmmSoTaoqE8XckU4UJAknvSe"
)
