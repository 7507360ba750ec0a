package getmodules_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

var fuzzLimits = getmodules.Limits{TreeBytes: 1 << 20, Entries: 100}

// FuzzZip checks that extraction is safe, and that archive/zip reads the same files from
// every archive that is accepted.
func FuzzZip(f *testing.F) {
	f.Add(newZip(rawFile("a", "text"), rawDir("d"), rawLink("l", "a")).bytes())
	f.Add(newZip(described(rawFile("a", "text"), true), described(rawStored("b", "x"), false)).bytes())
	f.Add(newZip(rawFile("../x", "")).bytes())
	f.Fuzz(func(t *testing.T, archive []byte) {
		got, _, err := extract(t, "zip", archive, fuzzLimits)
		if err != nil {
			return
		}
		reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatalf("archive/zip refuses what was accepted: %v", err)
		}
		for _, file := range reader.File {
			if file.Mode().IsRegular() {
				compareZipFile(t, file, got)
			}
		}
	})
}

func compareZipFile(t *testing.T, file *zip.File, got map[string]string) {
	t.Helper()
	r, err := file.Open()
	if err != nil {
		t.Fatalf("archive/zip cannot open %q: %v", file.Name, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("archive/zip cannot read %q: %v", file.Name, err)
	}
	have, found := got[strings.TrimPrefix(file.Name, "./")]
	if !found || strings.TrimPrefix(have, "exec:") != strings.TrimPrefix(string(text), "exec:") {
		t.Fatalf("%q is %q here and %q to archive/zip", file.Name, have, text)
	}
}

func FuzzTar(f *testing.F) {
	f.Add(tarOf(f, tarFile("a", "text"), tarDir("d"), tarLink("l", "a")))
	f.Add(tarEnd(tarPAX('g', "comment=x"), tarPAX('x', "path=a/b"), tarBlocks('0', "c", "", 1, "1")))
	f.Add(tarEnd(tarBlocks('L', "x", "", 3, "a/b"), tarBlocks('0', "c", "", 0, "")))
	f.Fuzz(func(t *testing.T, plain []byte) {
		if got, _, err := extract(t, "tar.gz", gzipped(plain), fuzzLimits); err == nil && len(got) == 0 {
			t.Fatal("an empty tree was accepted")
		}
	})
}

func FuzzArchive(f *testing.F) {
	f.Add(tarBzip2(f))
	f.Add(gzipped(tarOf(f, tarFile("a", "text"))))
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		_, _, _ = extract(t, "", archive, fuzzLimits)
	})
}
