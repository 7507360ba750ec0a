package getmodules_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

func TestUnsupported(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"s3::https://s3.amazonaws.com/b/k":             "cotter/getmodules/s3",
		"gcs::https://www.googleapis.com/storage/v1/b": "cotter/getmodules/gcs",
		"hg::https://example.com/a":                    "cotter/getmodules/hg",
		"ssh://git:hunter2@example.com/a":              "git::ssh://",
		"nope::https://u:hunter2@example.com":          `"nope"`,
		"example.com:80/a":                             `"example.com"`,
		"":                                             `""`,
		"https::file:///etc/x.zip":                     "not fetched by http",
		"https::ftp://example.com/x.zip":               "not fetched by http",
	}
	for address, want := range tests {
		_, _, err := fetchURL(t, &getmodules.Fetcher{}, address)
		if !errors.Is(err, getmodules.ErrUnsupportedScheme) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v, want ErrUnsupportedScheme with %s", address, err, want)
		}
	}
}

func TestFetchOverExisting(t *testing.T) {
	t.Parallel()
	source, dir := filepath.Join(t.TempDir(), "a.zip"), t.TempDir()
	writeFile(t, source, string(sampleZip()))
	kept := filepath.Join(dir, "kept")
	writeFile(t, kept, "x")
	req := getmodules.Request{Package: addrs.ParseModulePackage(fileURL(source)), Dir: dir}
	if _, err := new(getmodules.Fetcher).Fetch(t.Context(), req); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error is %v, want fs.ErrExist", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("what was there is gone: %v", err)
	}
	req.Dir = ""
	if _, err := new(getmodules.Fetcher).Fetch(t.Context(), req); err == nil {
		t.Error("no directory is no error")
	}
	req.Dir = filepath.Join(dir, "missing", "package")
	if _, err := new(getmodules.Fetcher).Fetch(t.Context(), req); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a parent: error is %v, want fs.ErrNotExist", err)
	}
}

func TestFetchError(t *testing.T) {
	t.Parallel()
	_, _, err := fetchURL(t, &getmodules.Fetcher{}, "nope::https://user:hunter2@example.com/a?sig=hunter2&ref=v1")
	var fetch *getmodules.FetchError
	if !errors.As(err, &fetch) || fetch.Package != "nope::https://example.com/a?sig=REDACTED&ref=v1" {
		t.Errorf("error is %#v, want the redacted package", err)
	}
}
