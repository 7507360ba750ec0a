package inprocess_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git/inprocess"
	"github.com/cotterpin/cotter/internal/testenv"
)

// limits are far higher than the tests need.
var limits = inprocess.PackLimits{Objects: 10_000, ObjectBytes: 1 << 20, TotalBytes: 64 << 20, MemoryBytes: 1 << 20}

func blobName(content string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
	return hex.EncodeToString(sum[:])
}

func readAll(stream io.Reader, dir string, limits inprocess.PackLimits) (*inprocess.PackStream, error) {
	objects := inprocess.StartPack(io.NopCloser(stream), dir, limits)
	if _, err := objects.Wait(); err != nil {
		return nil, errors.Join(err, objects.Close())
	}
	return objects, nil
}

// read reads a pack. It also checks that nothing is left in the directory after Close or
// after an error.
func read(t testing.TB, pack []byte, limits inprocess.PackLimits) (*inprocess.PackStream, error) {
	t.Helper()
	dir := t.TempDir()
	objects, err := readAll(bytes.NewReader(pack), dir, limits)
	if err != nil {
		wantEmpty(t, dir)
		return nil, err
	}
	t.Cleanup(func() {
		if err := objects.Close(); err != nil {
			t.Error(err)
		}
		wantEmpty(t, dir)
	})
	return objects, nil
}

func wantEmpty(t testing.TB, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// gitPack returns a pack, made by git, of a repository with many similar files as deltas
// of deltas. It also returns a function that runs git in that repository.
func gitPack(t testing.TB) (file string, pack []byte, git func(stdin string, args ...string) string) {
	t.Helper()
	dir := t.TempDir()
	git = testenv.Git(t, dir)
	git("", "init", "--quiet", "--bare", "--initial-branch=main")
	var in strings.Builder
	in.WriteString("commit refs/heads/main\ncommitter a <a@example.com> 1700000000 +0000\ndata 1\nx\n")
	body := strings.Repeat("the quick brown fox jumps over the lazy dog\n", 100)
	for i := range 300 {
		body = body[:40*(i%100)] + fmt.Sprintf("line %d ", i*i) + body[40*(i%100):]
		fmt.Fprintf(&in, "M 100644 inline d%d/f%d\ndata %d\n%s\n", i%7, i, len(body), body)
	}
	in.WriteString("\ntag v1\nfrom refs/heads/main\ntagger a <a@example.com> 1700000000 +0000\ndata 1\nx\n")
	git(in.String(), "fast-import", "--quiet")
	git("", "repack", "--quiet", "-adf", "--depth=200", "--window=200")
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("packs: %v, %v", packs, err)
	}
	if pack, err = os.ReadFile(packs[0]); err != nil {
		t.Fatal(err)
	}
	return packs[0], pack, git
}
