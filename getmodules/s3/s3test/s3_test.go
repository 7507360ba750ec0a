package s3test_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestArchive(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	old, now := map[string]string{"main.tf": "old"}, map[string]string{"main.tf": "now", "sub/a.tf": "a"}
	version := s.put(t, "net.zip", testenv.Zip(t, old))
	s.put(t, "net.zip", testenv.Zip(t, now))
	s.put(t, "net", testenv.Zip(t, now))
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
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s%s (-want +got):\n%s", test.key, test.more, diff)
		}
		if want := s.resolved(test.key, test.resolved); pkg.Resolved.String() != want || pkg.ArchiveSum == "" {
			t.Errorf("resolved %q with sum %q, want %q with one", pkg.Resolved, pkg.ArchiveSum, want)
		}
	}
	for _, id := range s.signed {
		if id != keyID {
			t.Errorf("a request was signed by %q", id)
		}
	}
}

// TestSameByHTTP checks that an archive gives the same package over S3 and over http.
func TestSameByHTTP(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	archive := testenv.Zip(t, map[string]string{"main.tf": "x"})
	s.put(t, "net.zip", archive)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(archive) }))
	t.Cleanup(site.Close)
	var sums []string
	for _, address := range []string{s.address("net.zip", ""), site.URL + "/net.zip"} {
		dir := filepath.Join(t.TempDir(), "package")
		f := getmodules.Fetcher{Getters: getters()}
		pkg, err := f.Fetch(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(address), Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		hash, err := hashing.Dir(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, pkg.ArchiveSum+" "+string(hash))
	}
	if sums[0] != sums[1] {
		t.Errorf("by s3 %s, by http %s", sums[0], sums[1])
	}
}

func TestEnvironmentCredentials(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.put(t, "net.zip", testenv.Zip(t, map[string]string{"main.tf": "x"}))
	dir := filepath.Join(t.TempDir(), "package")
	named := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"s3": &s3.Getter{Endpoints: []string{s.URL}}}}
	if _, err := named.Fetch(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("s3::" + s.URL + "/modules/net.zip"), Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := fetch(t, new(getmodules.Fetcher), "s3::"+s.URL+"/modules/net.zip"); err == nil {
		t.Error("a server that the user has not named gets credentials")
	}
	if diff := cmp.Diff([]string{"AKIDENVIRONMENT"}, s.signed); diff != "" {
		t.Errorf("signed by (-want +got):\n%s", diff)
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
		if err != nil {
			t.Fatal(err)
		}
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
	s.put(t, "bad.zip", testenv.Zip(t, map[string]string{"../main.tf": "x"}))
	s.put(t, "git/.git/config", []byte("x"))
	s.put(t, "clash/a", []byte("x"))
	s.put(t, "clash/a/b", []byte("x"))
	s.put(t, "up/../../x", []byte("x"))
	s.put(t, "control/a\nb", []byte("x"))
	tests := map[string]struct {
		key, more string
		want      error
	}{
		"absent object":        {"missing.zip", "", fs.ErrNotExist},
		"absent version":       {"net.zip", "&version=" + strings.Repeat("3", 40), fs.ErrNotExist},
		"absent directory":     {"missing", "", getmodules.ErrEmpty},
		"truncated":            {"cut.zip", "", getmodules.ErrUnsafeArchive},
		"name in an archive":   {"bad.zip", "", getmodules.ErrUnsafeEntry},
		"version control":      {"git", "", getmodules.ErrUnsafeEntry},
		"control character":    {"control", "", getmodules.ErrUnsafeEntry},
		"checksum":             {"net.zip", "&checksum=md5:00000000000000000000000000000000", getmodules.ErrChecksum},
		"file and directory":   {"clash", "", nil},
		"out of the directory": {"up", "", nil},
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

func TestLimits(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.put(t, "net.zip", testenv.Zip(t, map[string]string{"main.tf": strings.Repeat("x", 1000)}))
	s.put(t, "net/a", bytes.Repeat([]byte("x"), 500))
	s.put(t, "net/b", bytes.Repeat([]byte("x"), 500))
	tests := []struct {
		key    string
		limits getmodules.Limits
		ok     bool
	}{
		{"net.zip", getmodules.Limits{DownloadBytes: 20}, false},
		{"net.zip", getmodules.Limits{TreeBytes: 999}, false},
		{"net.zip", getmodules.Limits{TreeBytes: 1000}, true},
		{"net", getmodules.Limits{TreeBytes: 999}, false},
		{"net", getmodules.Limits{FileBytes: 499}, false},
		{"net", getmodules.Limits{Entries: 1}, false},
		{"net", getmodules.Limits{TreeBytes: 1000, FileBytes: 500, Entries: 2}, true},
	}
	for _, test := range tests {
		_, _, err := fetch(t, &getmodules.Fetcher{Limits: test.limits}, s.address(test.key, ""))
		if test.ok && err != nil || !test.ok && !errors.Is(err, getmodules.ErrTooLarge) {
			t.Errorf("%s within %+v: error is %v", test.key, test.limits, err)
		}
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
