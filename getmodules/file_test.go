package getmodules_test

import (
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// fileURL returns the address of a package at a local path.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if path[0] != '/' {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func TestLocalDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "my module")
	writeFile(t, filepath.Join(dir, "main.tf"), "x")
	for address, want := range map[string]string{
		fileURL(dir):                           dir,
		fileURL(dir) + "/":                     dir,
		fileURL(filepath.Dir(dir)) + "/./x/..": filepath.Dir(dir),
		"file::" + fileURL(dir):                dir,
		fileURL(dir) + "?archive=false":        dir,
		fileURL(dir + "/missing"):              filepath.Join(dir, "missing"),
		fileURL(dir) + ".zip":                  "",
		fileURL(dir) + "?archive=zip":          "",
		fileURL(dir) + ".xz":                   "",
		fileURL(dir) + "?checksum=00":          "",
		"file://host" + filepath.ToSlash(dir):  "",
		"file:relative":                        "",
		"git::" + fileURL(dir):                 "",
		"https://example.com/net":              "",
	} {
		if got := getmodules.LocalDirectory(addrs.ParseModulePackage(address)); got != want {
			t.Errorf("%s: directory %q, want %q", address, got, want)
		}
	}
	if _, _, err := fetchURL(t, &getmodules.Fetcher{}, fileURL(dir)); !errors.Is(err, getmodules.ErrUnsupportedScheme) {
		t.Errorf("a fetch of a directory: error is %v, want ErrUnsupportedScheme", err)
	}
}

func TestFileArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a.zip"), string(sampleZip()))
	writeFile(t, filepath.Join(dir, "a"), string(sampleZip()))
	writeFile(t, filepath.Join(dir, "b.zip", "main.tf"), "")
	for address, resolved := range map[string]string{
		fileURL(dir + "/a.zip"):            fileURL(dir + "/a.zip"),
		fileURL(dir+"/a") + "?archive=zip": fileURL(dir+"/a") + "?archive=zip",
	} {
		got, pkg, err := fetchURL(t, &getmodules.Fetcher{}, address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if diff := cmp.Diff(sampleTree, got); diff != "" {
			t.Errorf("%s: tree differs (-want +got):\n%s", address, diff)
		}
		if pkg.Resolved.String() != resolved || pkg.ArchiveSum == "" {
			t.Errorf("%s: package is %+v", address, pkg)
		}
	}
	tests := map[string]error{
		fileURL(dir + "/missing.zip"):                   fs.ErrNotExist,
		fileURL(dir + "/a"):                             getmodules.ErrUnsupportedScheme,
		fileURL(dir + "/b.zip"):                         getmodules.ErrNotArchive,
		fileURL(dir+"/a") + "?archive=tgz":              getmodules.ErrNotArchive,
		fileURL(dir+"/a.zip") + "?checksum=md5:" + "00": nil,
		fileURL(dir) + "?checksum=00":                   nil,
		"file://host" + dir:                             getmodules.ErrUnsupportedScheme,
		"file:relative":                                 getmodules.ErrUnsupportedScheme,
		"file::relative":                                getmodules.ErrUnsupportedScheme,
		"file::https://example.com/a.zip":               getmodules.ErrUnsupportedScheme,
	}
	for address, want := range tests {
		if _, _, err := fetchURL(t, &getmodules.Fetcher{}, address); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: error is %v, want %v", address, err, want)
		}
	}
}

func TestLocalFromStrangers(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	writeFile(t, filepath.Join(source, "main.tf"), "x")
	changes := map[string]func(*getmodules.Request){
		"package":      func(req *getmodules.Request) { req.FromPackage = true },
		"server":       func(req *getmodules.Request) { req.FromServer, req.Origin = true, "https://example.com" },
		"local server": func(req *getmodules.Request) { req.FromServer, req.Origin = true, "http://127.0.0.1:80" },
	}
	for name, change := range changes {
		for _, address := range []string{fileURL(source), "file::" + fileURL(source), "git::" + fileURL(source), "file::" + source} {
			if _, _, err := fetchURL(t, &getmodules.Fetcher{}, address, change); !errors.Is(err, getmodules.ErrRefusedLocation) {
				t.Errorf("%s from a %s: error is %v, want ErrRefusedLocation", address, name, err)
			}
		}
	}
}
