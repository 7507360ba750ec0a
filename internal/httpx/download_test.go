package httpx_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/httpx"
)

// TestDownloadToAFile writes to a new file, and to a file that has been written to.
func TestDownloadToAFile(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "archive"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, text := range []string{"a long text", "short", ""} {
		if err := (&httpx.Download{File: file}).Copy(strings.NewReader(text), -1); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file.Name()); err != nil || string(got) != text {
			t.Errorf("the file has %q, %v; want %q", got, err, text)
		}
	}
}

// Emptying a file that cannot be changed is an error, unless it is already empty.
func TestDownloadToAReadOnlyFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := (&httpx.Download{File: file}).Copy(strings.NewReader(""), -1); err == nil {
		t.Error("a file that is open for reading was emptied")
	}
}

// TestDownloadLimit writes contents around a limit of four bytes, announced and not.
func TestDownloadLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content  string
		size     int64
		tooLarge bool
	}{
		"smaller":               {content: "abc", size: 3},
		"at the limit":          {content: "abcd", size: 4},
		"larger":                {content: "abcde", size: 5, tooLarge: true},
		"smaller, not known":    {content: "abc", size: -1},
		"at the limit, unknown": {content: "abcd", size: -1},
		"larger, unknown":       {content: "abcde", size: -1, tooLarge: true},
		"empty":                 {content: "", size: 0},
	} {
		var written strings.Builder
		var done, total int64
		sum := sha256.New()
		d := httpx.Download{Writer: &written, Limit: 4, Hash: sum, Progress: func(n, of int64) { done, total = n, of }}
		err := d.Copy(strings.NewReader(test.content), test.size)
		large, isLarge := errors.AsType[*httpx.TooLargeError](err)
		if isLarge != test.tooLarge || err != nil && !isLarge {
			t.Errorf("%s: Copy = %v", name, err)
		}
		if isLarge {
			if large.Limit != 4 || large.Size != max(test.size, 0) {
				t.Errorf("%s: the error is %+v", name, large)
			}
			continue
		}
		size := int64(len(test.content))
		if written.String() != test.content || d.Size() != size || done != size || total != size {
			t.Errorf("%s: wrote %q, %d bytes; progress ended at %d of %d", name, &written, d.Size(), done, total)
		}
		if want := sha256.Sum256([]byte(test.content)); [32]byte(sum.Sum(nil)) != want {
			t.Errorf("%s: the hash is %x, want %x", name, sum.Sum(nil), want)
		}
	}
}
