package getmodules_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/testenv"
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
	testenv.WriteFile(t, name, string(newZip(rawFile("a", "1")).bytes()))
	file, err := os.Open(name)
	testenv.Must(t, err)
	defer file.Close()
	if _, err := getmodules.ExtractArchive(ctx, file, "", newSandbox(t).dir, getmodules.Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

// A zip archive of many entries waits for another large package before its directory is read, and one whose directory is
// larger than that of any honest archive is not read at all.
func TestZipDirectory(t *testing.T) {
	t.Parallel()
	file := func(entries uint16, size uint32) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), "x.zip"))
		testenv.Must(t, err)
		t.Cleanup(func() { f.Close() })
		end := binary.LittleEndian.AppendUint16(append([]byte("PK\x05\x06"), make([]byte, 4)...), entries)
		end = binary.LittleEndian.AppendUint16(end, entries)
		end = binary.LittleEndian.AppendUint32(end, size)
		end = append(binary.LittleEndian.AppendUint32(end, 4), 0, 0)
		_, err = f.WriteString("PK\x03\x04")
		testenv.Must(t, err)
		_, err = f.WriteAt(end, 4+int64(size))
		testenv.Must(t, err)
		return f
	}
	var other packagelimits.Share
	testenv.Must(t, other.Grow(t.Context(), 30_000))
	defer other.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := getmodules.ExtractArchive(ctx, file(30_000, 1<<20), "zip", newSandbox(t).dir, getmodules.Limits{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a damaged directory of 30,000 entries beside another = %v, want that it waits until the context is done", err)
	}
	if _, err := getmodules.ExtractArchive(t.Context(), file(20_000, 129<<20), "zip", newSandbox(t).dir, getmodules.Limits{}); !errors.Is(err, getmodules.ErrTooLarge) {
		t.Errorf("a directory of 129 MiB = %v, want ErrTooLarge", err)
	}
}

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

func TestChecksum(t *testing.T) {
	t.Parallel()
	body := sampleZip()
	sum := fmt.Sprintf("%x", sha256.Sum256(body))
	other := strings.Repeat("0", 64)
	site := newSite(t, map[string]http.HandlerFunc{
		"/a.zip": serve(body),
		"/page":  leadTo("https://example.com/a.zip"),
		"/gnu":   serve([]byte(other + "  b.zip\n" + sum + "  a.zip\n")),
		"/star":  serve([]byte(sum + " *./a.zip\r\n" + other + " *b.zip")),
		"/bsd":   serve([]byte("MD5 (b.zip) = 00\nSHA256 (a.zip) = " + sum + "\n")),
		"/alone": serve([]byte(sum + "\n")),
		"/wrong": serve([]byte(other + "  a.zip\n")),
		"/none":  serve([]byte(sum + "  c.zip\n" + other + "  b.zip")),
		"/long":  serve(make([]byte, 1<<20+1)),
	})
	sums := func(path string) string { return "file:" + site.URL + path }
	good := []string{
		sum, strings.ToUpper(sum), "sha256:" + sum, fmt.Sprintf("%x", md5.Sum(body)), fmt.Sprintf("md5:%x", md5.Sum(body)),
		fmt.Sprintf("%x", sha1.Sum(body)), fmt.Sprintf("sha512:%x", sha512.Sum512(body)),
		sums("/gnu"), sums("/star"), sums("/bsd"), sums("/alone"), "file:" + site.withUserinfo("/gnu"),
	}
	for _, checksum := range good {
		_, pkg, err := fetchURL(t, newHTTPFetcher(), site.URL+"/a.zip?x=1&checksum="+url.QueryEscape(checksum))
		if err != nil || pkg.Resolved.String() != site.URL+"/a.zip" {
			t.Errorf("checksum=%s: %+v, %v", checksum, pkg, err)
		}
	}
	for _, line := range site.asked() {
		if strings.Contains(line, "checksum") {
			t.Errorf("the server was asked %q", line)
		}
	}
	for _, checksum := range []string{other, "sha256:" + other, sums("/wrong"), fmt.Sprintf("%x", md5.Sum(nil))} {
		_, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/a.zip?checksum="+url.QueryEscape(checksum))
		if !errors.Is(err, getmodules.ErrChecksum) {
			t.Errorf("checksum=%s: error is %v, want ErrChecksum", checksum, err)
		}
	}
	bad := []string{
		"abc", "xyz", "00", "sha256:" + sum[1:], "md5:" + sum, "crc32:00000000", "sha3:" + sum, "file:", "file:/etc/passwd", "file:relative",
		"file:file:///etc/passwd", sums("/none"), sums("/missing"), sums("/long"),
	}
	for _, checksum := range bad {
		if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/a.zip?checksum="+url.QueryEscape(checksum)); err == nil {
			t.Errorf("checksum=%s is no error", checksum)
		}
	}
	if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/page?checksum="+sum); err == nil || len(site.asked()) == 0 {
		t.Error("a checksum of a page is no error")
	}
}

func FuzzChecksumInFile(f *testing.F) {
	f.Add("d41d8cd98f00b204e9800998ecf8427e  a.zip\n", "a.zip")
	f.Add("MD5 (a.zip) = d41d8cd98f00b204e9800998ecf8427e", "a.zip")
	f.Add("d41d8cd98f00b204e9800998ecf8427e", "")
	f.Fuzz(func(t *testing.T, text, name string) {
		if sum, err := getmodules.ChecksumInFile(text, name); err == nil && !strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", sum)) {
			t.Errorf("ChecksumInFile(%q, %q) = %x, which is not in it", text, name, sum)
		}
	})
}

// TestToolsArchives unpacks archives made by commonly used tools.
func TestToolsArchives(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the file modes of the test's tree do not exist on Windows")
	}
	source, out := t.TempDir(), t.TempDir()
	testenv.WriteFile(t, filepath.Join(source, "main.tf"), "x")
	testenv.WriteFile(t, filepath.Join(source, "módulo", "a.tf"), "y")
	testenv.WriteFile(t, filepath.Join(source, "bin", "run.sh"), "#!/bin/sh")
	testenv.Must(t, os.Chmod(filepath.Join(source, "bin", "run.sh"), 0o755))
	testenv.Must(t, os.Symlink("../main.tf", filepath.Join(source, "bin", "link.tf")))
	want := map[string]string{
		"main.tf": "x", "módulo": "dir", "módulo/a.tf": "y", "bin": "dir", "bin/run.sh": "exec:#!/bin/sh", "bin/link.tf": "link:../main.tf",
	}
	const commit = "git init -q . && git add . && git -c user.name=x -c user.email=x commit -qm x && "
	tests := []struct{ tool, script, file string }{
		{"git", commit + "git archive --format=zip -o $OUT/git.zip HEAD", "git.zip"},
		{"git", commit + "git archive --format=tar.gz -o $OUT/git.tar.gz HEAD", "git.tar.gz"},
		{"tar", "tar -czf $OUT/tar.tar.gz --exclude=.git .", "tar.tar.gz"},
		{"tar", "tar -czf $OUT/pax.tar.gz --format=posix --exclude=.git .", "pax.tar.gz"},
		{"bzip2", "tar -cjf $OUT/tar.tar.bz2 --exclude=.git .", "tar.tar.bz2"},
		{"zip", "zip -qry $OUT/zip.zip . -x '.git/*'", "zip.zip"},
		{"bsdtar", "bsdtar -czf $OUT/bsdtar.tar.gz --exclude=.git .", "bsdtar.tar.gz"},
		{"python3", "python3 -c 'import tarfile; t = tarfile.open(\"'$OUT'/py.tar.gz\", \"w:gz\"); t.add(\".\", filter=lambda i: None if \".git\" in i.name else i); t.close()'", "py.tar.gz"},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			testenv.Program(t, test.tool)
			shell := exec.CommandContext(t.Context(), "sh", "-c", "rm -rf .git && "+test.script)
			shell.Dir = source
			shell.Env = append(os.Environ(), "OUT="+out, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
			if text, err := shell.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			archive, err := os.ReadFile(filepath.Join(out, test.file))
			testenv.Must(t, err)
			got, _, err := extract(t, "", archive, getmodules.Limits{})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("error %v, tree differs (-want +got):\n%s", err, diff)
			}
		})
	}
}

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

// BenchmarkExtractArchive unpacks packages of 500 and 5,000 files of 2 KB each. It reports
// the time per file, which must be the same for both.
func BenchmarkExtractArchive(b *testing.B) {
	for _, n := range []int{500, 5_000} {
		for kind, archive := range benchArchives(b, n) {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				file := filepath.Join(b.TempDir(), "archive")
				testenv.Must(b, os.WriteFile(file, archive, 0o600))
				b.SetBytes(int64(n * benchFileSize))
				b.ReportAllocs()
				for b.Loop() {
					extractOnce(b, file, kind)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/file")
			})
		}
	}
}

const benchFileSize = 2 << 10

func benchArchives(b *testing.B, n int) map[string][]byte {
	var zips []*zipRaw
	var tars []tarRaw
	for i := range n {
		name := fmt.Sprintf("modules/m%d/f%d.tf", i%(n/10), i)
		text := strings.Repeat(fmt.Sprintf("# %013d\n", i), benchFileSize/16)
		zips, tars = append(zips, rawFile(name, text)), append(tars, tarFile(name, text))
	}
	return map[string][]byte{"zip": newZip(zips...).bytes(), "tar.gz": gzipped(tarOf(b, tars...))}
}

// extractOnce extracts an archive and removes the result. The removal is not part of the
// measured time.
func extractOnce(b *testing.B, archive, kind string) {
	b.Helper()
	file, err := os.Open(archive)
	testenv.Must(b, err)
	defer file.Close()
	dir := filepath.Join(filepath.Dir(archive), "tree")
	if _, err := getmodules.ExtractArchive(b.Context(), file, kind, dir, getmodules.Limits{}); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	defer b.StartTimer()
	testenv.Must(b, os.RemoveAll(dir))
}
