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

// hostileNames are names that an archive must not contain, whether for a file, a directory
// or a link.
var hostileNames = []string{
	"../x", "../../x", "/x", "/etc/passwd", "//x", "a/../../x", "a/../x", "a/./x", "a//x", "..", "./../x", "././x", ".//x",
	`..\x`, `a\x`, `C:\x`, `\\?\C:\x`, `\\server\share\x`, "a\nb", "a\rb", "a\tb", "a\x1b[2Jb", "a\x7fb", "a\u0085b", "a\xffb",
	"\u202ea", "a\u2066", "\ufeffa", strings.Repeat("n", 256), strings.Repeat("d/", 64) + "x", strings.Repeat("long/", 210) + "x",
	".git", ".git/config", ".git/hooks/post-checkout", "a/.git/config", ".GIT/config", ".Git", ".g\u200dit/config", "git~1/config", "GIT~1",
	".git /config", ".git./config", ".git::$INDEX_ALLOCATION/config", ".hg/hgrc", ".svn/entries", ".bzr/x", ".HG", ".\u017fvn",
}

// hostileTargets are targets with which the symbolic link "d/l" must be left out of a
// tree.
var hostileTargets = []string{
	"/", "/etc/passwd", "/dev/zero", "../../x", "../../../../etc/passwd", "..//..", "../..", "../../package/a", "nothing", "../nothing",
	"a\x1b[2J", "l", "./l", "../d/l", "../d/../../x", `..\..\x`, `C:\x`, "a//", "../a/", "../a/x", "\u202e", "\xff",
	strings.Repeat("../", 100) + "etc/passwd", strings.Repeat("x", 1500),
}

func TestHostileEntries(t *testing.T) {
	t.Parallel()
	for i, name := range hostileNames {
		t.Run(fmt.Sprintf("name %d", i), func(t *testing.T) {
			t.Parallel()
			a := func() *zipRaw { return rawFile("ok", "1") }
			block := tarBlocks('0', "ok", "", 1, "1")
			path := tarPAX('x', "path="+name)
			for what, archive := range map[string][]byte{
				"zip file": newZip(a(), rawFile(name, "")).bytes(),
				"zip dir":  newZip(a(), rawDir(name)).bytes(),
				"zip link": newZip(a(), rawLink(name, "ok")).bytes(),
				"tar file": gzipped(tarEnd(block, path, tarBlocks('0', "x", "", 0, ""))),
				"tar dir":  gzipped(tarEnd(block, path, tarBlocks('5', "x", "", 0, ""))),
				"tar link": gzipped(tarEnd(block, path, tarBlocks('2', "x", "ok", 0, ""))),
			} {
				_, _, err := extract(t, "", archive, getmodules.Limits{})
				wantRefused(t, fmt.Sprintf("%s %q", what, name), err)
			}
		})
	}
	for i, target := range hostileTargets {
		t.Run(fmt.Sprintf("target %d", i), func(t *testing.T) {
			t.Parallel()
			for what, archive := range map[string][]byte{
				"zip": newZip(rawFile("a", ""), rawLink("d/l", target)).bytes(),
				"tar": gzipped(tarEnd(tarBlocks('0', "a", "", 0, ""), tarPAX('x', "linkpath="+target), tarBlocks('2', "d/l", "x", 0, ""))),
			} {
				got, pkg, err := extract(t, "", archive, getmodules.Limits{})
				if err != nil || len(pkg.LeftOut) != 1 || pkg.LeftOut[0].Path != "d/l" {
					t.Errorf("%s link to %q: %v, %v; want that it is left out", what, target, pkg, err)
					continue
				}
				if diff := cmp.Diff(map[string]string{"a": "", "d": "dir"}, got); diff != "" {
					t.Errorf("%s link to %q: tree (-want +got):\n%s", what, target, diff)
				}
			}
		})
	}
}

// TestWriteThroughLink checks sequences of entries that are known to make extractors write
// outside the target directory.
func TestWriteThroughLink(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	tests := map[string][][2]string{ // name and target; the target is empty for a file
		"link then below":       {{"d", outside}, {"d/x", ""}},
		"relative then below":   {{"d", ".."}, {"d/x", ""}},
		"below then link":       {{"d/x", ""}, {"d", outside}},
		"link then same file":   {{"x", outside + "/x"}, {"x", ""}},
		"file then same link":   {{"x", ""}, {"x", outside + "/x"}},
		"link to link":          {{"a", "b"}, {"b", outside}, {"a/x", ""}},
		"link by steps":         {{"a", "."}, {"a/b", ".."}, {"a/b/x", ""}},
		"link then same folder": {{"d", outside}, {"d/", ""}},
	}
	for name, entries := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var zip []*zipRaw
			var tar [][]byte
			for _, e := range entries {
				if e[1] == "" {
					zip, tar = append(zip, rawFile(e[0], "")), append(tar, tarBlocks('0', e[0], "", 0, ""))
				} else {
					zip, tar = append(zip, rawLink(e[0], e[1])), append(tar, tarBlocks('2', e[0], e[1], 0, ""))
				}
			}
			for _, archive := range [][]byte{newZip(zip...).bytes(), gzipped(tarEnd(tar...))} {
				_, _, err := extract(t, "", archive, getmodules.Limits{})
				wantRefused(t, name, err)
			}
			if left, err := os.ReadDir(outside); len(left) > 0 || err != nil {
				t.Errorf("outside there is %v, %v", left, err)
			}
		})
	}
}

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
