package getmodules_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
)

// TestTruncated cuts each archive off at every byte.
func TestTruncated(t *testing.T) {
	t.Parallel()
	archives := map[string][]byte{
		"zip":             newZip(rawFile("a", "text"), described(rawFile("b", "more"), true), rawLink("l", "a")).bytes(),
		"zip and comment": newZip(rawStored("a", "text")).but(func(z *rawZip) { z.comment = []byte("comment") }).bytes(),
		"tar.gz":          gzipped(tarOf(t, tarFile("a", "text"), tarLink("l", "a"))),
		"tar.bz2":         tarBzip2(t),
	}
	for name, archive := range archives {
		if _, _, err := extract(t, "", archive, getmodules.Limits{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for size := range archive {
			_, _, err := extract(t, "", archive[:size], getmodules.Limits{})
			wantRefused(t, fmt.Sprintf("%s cut at %d", name, size), err)
		}
	}
}

// TestTruncatedTar cuts a tar file off at every 256 bytes and then compresses it, so that
// the tar file is damaged but the gzip file is intact.
func TestTruncatedTar(t *testing.T) {
	t.Parallel()
	plain := tarOf(t, tarFile("a", "text"), tarFile("b", strings.Repeat("\x00", 1024)))
	for size := 0; size < len(plain); size += 256 {
		_, _, err := extract(t, "tar.gz", gzipped(plain[:size]), getmodules.Limits{})
		wantRefused(t, fmt.Sprintf("cut at %d", size), err)
	}
}

func TestArchiveKinds(t *testing.T) {
	t.Parallel()
	zip, tgz := newZip(rawFile("a", "1")).bytes(), gzipped(tarOf(t, tarFile("a", "1")))
	for kind, archive := range map[string][]byte{"zip": zip, "tar.gz": tgz, "tar.bz2": tarBzip2(t)} {
		for _, asked := range []string{"zip", "tar.gz", "tar.bz2"} {
			_, _, err := extract(t, asked, archive, getmodules.Limits{})
			if want := kind != asked; errors.Is(err, getmodules.ErrNotArchive) != want {
				t.Errorf("%s as %s: %v", kind, asked, err)
			}
		}
	}
	others := map[string]string{
		"":                                      "empty",
		"<!DOCTYPE html><title>Sign in</title>": "HTML",
		"\ufeff \n<html>":                       "HTML",
		`{"message":"Not Found"}`:               "JSON",
		"\xfd7zXZ\x00rest":                      "xz",
		"\x28\xb5\x2f\xfd":                      "zstd",
		string(tarOf(t, tarFile("a", "1"))):     "tar",
		"PK":                                    "unknown",
		"hello":                                 "unknown",
	}
	for text, want := range others {
		_, _, err := extract(t, "zip", []byte(text), getmodules.Limits{})
		if !errors.Is(err, getmodules.ErrNotArchive) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: error is %v, want ErrNotArchive that says %s", text, err, want)
		}
	}
}

func TestExtractArchiveResult(t *testing.T) {
	t.Parallel()
	archive := newZip(rawFile("a:b", "1")).bytes()
	got, pkg, err := extract(t, "", archive, getmodules.Limits{})
	if err != nil {
		t.Skip("this system cannot hold the name: ", err)
	}
	sum := sha256.Sum256(archive)
	if want := "zh:" + hex.EncodeToString(sum[:]); pkg.ArchiveSum != want || pkg.Bytes != int64(len(archive)) || len(pkg.Warnings) != 1 {
		t.Errorf("package is %+v, want the sum %s, %d bytes and a warning", pkg, want, len(archive))
	}
	if diff := cmp.Diff(map[string]string{"a:b": "1"}, got); diff != "" {
		t.Errorf("tree differs (-want +got):\n%s", diff)
	}
	_, _, err = extract(t, "", archive, getmodules.Limits{Portable: true})
	if !errors.Is(err, getmodules.ErrUnsafeEntry) {
		t.Errorf("Portable: error is %v, want ErrUnsafeEntry", err)
	}
}

func TestExtractArchiveCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	name := filepath.Join(t.TempDir(), "x.zip")
	writeFile(t, name, string(newZip(rawFile("a", "1")).bytes()))
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := getmodules.ExtractArchive(ctx, file, "", newSandbox(t).dir, getmodules.Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}
