package s3test_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestArchive(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	old, now := map[string]string{"main.tf": "old"}, map[string]string{"main.tf": "now", "sub/a.tf": "a"}
	version := s.put(t, "net.zip", testenv.Zip(t, old))
	archive := testenv.Zip(t, now)
	s.put(t, "net.zip", archive)
	s.put(t, "net", archive)
	tests := []struct {
		key, more, resolved string
		want                map[string]string
	}{
		{"net.zip", "", "", now},
		{"net.zip", "&version=" + version, "&version=" + version, old},
		{"net", "&archive=zip", "&archive=zip", now},
	}
	for _, test := range tests {
		got, pkg, err := fetch(t, new(getmodules.Fetcher), s.address(test.key, test.more))
		testenv.Must(t, err)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s%s (-want +got):\n%s", test.key, test.more, diff)
		}
		if want := s.resolved(test.key, test.resolved); pkg.Resolved.String() != want || test.more == "" && pkg.ArchiveSum != fmt.Sprintf("zh:%x", sha256.Sum256(archive)) {
			t.Errorf("resolved %q with sum %q, want %q with that of the archive", pkg.Resolved, pkg.ArchiveSum, want)
		}
	}
	for _, id := range s.signed {
		if id != keyID {
			t.Errorf("a request was signed by %q", id)
		}
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, key := range []string{"net/main.tf", "net/sub/a.tf", "net/", "net-2/main.tf", "nets", "main.tf"} {
		s.put(t, key, []byte(key))
	}
	for _, key := range []string{"net", "net/"} {
		got, pkg, err := fetch(t, new(getmodules.Fetcher), s.address(key, ""))
		testenv.Must(t, err)
		if diff := cmp.Diff(map[string]string{"main.tf": "net/main.tf", "sub/a.tf": "net/sub/a.tf"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
		if want := s.resolved(key, ""); pkg.Resolved.String() != want || pkg.ArchiveSum != "" || pkg.Bytes != 23 {
			t.Errorf("got %+v, want %q, 23 bytes", pkg, want)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	archive := testenv.Zip(t, map[string]string{"main.tf": "x"})
	s.put(t, "net.zip", archive)
	s.put(t, "cut.zip", archive[:len(archive)-9])
	s.put(t, "git/.git/config", []byte("x"))
	s.put(t, "clash/a", []byte("x"))
	s.put(t, "clash/a/b", []byte("x"))
	tests := map[string]struct {
		key, more string
		want      error
	}{
		"absent object":        {"missing.zip", "", fs.ErrNotExist},
		"absent version":       {"net.zip", "&version=" + strings.Repeat("3", 40), fs.ErrNotExist},
		"absent directory":     {"missing", "", getmodules.ErrEmpty},
		"truncated":            {"cut.zip", "", getmodules.ErrUnsafeArchive},
		"version control":      {"git", "", getmodules.ErrUnsafeEntry},
		"checksum":             {"net.zip", "&checksum=md5:00000000000000000000000000000000", getmodules.ErrChecksum},
		"file and directory":   {"clash", "", nil},
		"version of directory": {"git", "&version=x", nil},
	}
	for name, test := range tests {
		_, _, err := fetch(t, new(getmodules.Fetcher), s.address(test.key, test.more))
		if err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: error is %v, want %v", name, err, test.want)
		}
	}
	if _, _, err := fetch(t, new(getmodules.Fetcher), strings.Replace(s.address("net.zip", ""), "/"+bucket+"/", "/absent/", 1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent bucket: error is %v, want fs.ErrNotExist", err)
	}
}

// TestConcurrent fetches concurrently, so that the race detector finds state that
// downloads share by mistake.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.put(t, "net.zip", testenv.Zip(t, map[string]string{"main.tf": "x"}))
	f := &getmodules.Fetcher{Getters: getters()}
	failed := make(chan error)
	for range 8 {
		dir := filepath.Join(t.TempDir(), "package")
		go func() {
			_, err := f.Fetch(context.Background(), getmodules.Request{Package: addrs.ParseModulePackage(s.address("net.zip", "")), Dir: dir})
			failed <- err
		}()
	}
	for range 8 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}
