package getmodules_test

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
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

func TestFileDirectory(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "my module")
	for name, text := range map[string]string{
		"main.tf": "x", "d/a.tf": "y", ".git/config": "secret", "d/.git": "gitdir: x", ".terraform/providers/big": "z",
		".terraform.lock.hcl": "lock", ".gitignore": "ignored",
	} {
		writeFile(t, filepath.Join(source, name), text)
	}
	if err := os.Symlink("../main.tf", filepath.Join(source, "d", "l.tf")); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"main.tf": "x", "d": "dir", "d/a.tf": "y", "d/l.tf": "link:../main.tf", ".terraform.lock.hcl": "lock", ".gitignore": "ignored",
	}
	for _, address := range []string{fileURL(source), "file::" + fileURL(source), fileURL(source) + "?archive=false"} {
		got, pkg, err := fetchURL(t, &getmodules.Fetcher{}, address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: tree differs (-want +got):\n%s", address, diff)
		}
		if pkg.Resolved.String() != fileURL(source) || pkg.ArchiveSum != "" {
			t.Errorf("%s: package is %+v", address, pkg)
		}
	}
}

func TestFileDirectoryLeftOut(t *testing.T) {
	t.Parallel()
	tests := map[string]string{"absolute": "/etc/passwd", "outside": "../x", "dangling": "nothing"}
	for name, target := range tests {
		source := t.TempDir()
		writeFile(t, filepath.Join(source, "main.tf"), "")
		if err := os.Symlink(target, filepath.Join(source, "l")); err != nil {
			t.Fatal(err)
		}
		got, pkg, err := fetchURL(t, &getmodules.Fetcher{}, fileURL(source))
		if err != nil || len(pkg.LeftOut) != 1 || pkg.LeftOut[0].Target != target || len(pkg.Warnings) != 1 {
			t.Errorf("%s link: %v, %v; want that it is left out with a warning", name, pkg, err)
		}
		if diff := cmp.Diff(map[string]string{"main.tf": ""}, got); diff != "" {
			t.Errorf("%s link: tree (-want +got):\n%s", name, diff)
		}
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
		fileURL(dir + "/missing"):                       fs.ErrNotExist,
		fileURL(dir + "/missing.zip"):                   fs.ErrNotExist,
		fileURL(dir + "/a"):                             getmodules.ErrNotArchive,
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

// TestFileAroundTarget copies a directory that contains the target directory. That is
// refused unless the target is in a .terraform directory, which is not copied.
func TestFileAroundTarget(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	writeFile(t, filepath.Join(source, "main.tf"), "x")
	for dir, good := range map[string]bool{"stage": false, ".terraform/modules": true} {
		parent := filepath.Join(source, "examples", filepath.FromSlash(dir))
		if err := os.MkdirAll(parent, 0o700); err != nil {
			t.Fatal(err)
		}
		req := getmodules.Request{Package: addrs.ParseModulePackage(fileURL(source)), Dir: filepath.Join(parent, "package")}
		if _, err := new(getmodules.Fetcher).Fetch(t.Context(), req); good != (err == nil) {
			t.Errorf("copy to %s: %v", dir, err)
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
