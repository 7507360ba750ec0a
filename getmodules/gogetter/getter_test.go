package gogetter_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	getter "github.com/hashicorp/go-getter/v2"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gogetter"
	"github.com/cotterpin/cotter/internal/testenv"
)

// get fetches an address with a client of go-getter that has go-getter's default
// decompressors.
func get(ctx context.Context, g *gogetter.Getter, request getter.Request) error {
	client := &getter.Client{Getters: []getter.Getter{g}}
	_, err := client.Get(ctx, &request)
	return err
}

func fileAddress(t *testing.T, name string, text []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	testenv.Must(t, os.WriteFile(name, text, 0o600))
	return "file://" + filepath.ToSlash(name)
}

// linked returns a tar.gz archive with two symbolic links: one that go-getter's
// decompressor turns into an empty file, and one that points outside the archive.
func linked(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for _, h := range []*tar.Header{
		{Typeflag: tar.TypeReg, Name: "modules/a/main.tf", Mode: 0o644},
		{Typeflag: tar.TypeSymlink, Name: "modules/a/in", Linkname: "main.tf"},
		{Typeflag: tar.TypeSymlink, Name: "modules/a/out", Linkname: "../../../x"},
	} {
		testenv.Must(t, w.WriteHeader(h))
	}
	testenv.Must(t, errors.Join(w.Close(), packed.Close()))
	return out.Bytes()
}

func TestGetter(t *testing.T) {
	t.Parallel()
	address := fileAddress(t, "net.tar.gz", linked(t))
	plain := fileAddress(t, "net", linked(t))
	whole := map[string]string{"modules/a/main.tf": "", "modules/a/in": "link:main.tf"}
	for _, test := range []struct {
		src  string
		mode getter.Mode
		want map[string]string
	}{
		{address, getter.ModeDir, whole},
		{address, getter.ModeAny, whole},
		{"file::" + address, getter.ModeDir, whole},
		{plain + "?archive=tar.gz", getter.ModeDir, whole},
		{address + "//modules/a?archive=tar.gz", getter.ModeDir, map[string]string{"main.tf": "", "in": ""}}, // go-getter copies it
	} {
		var fetched *getmodules.Package
		g := &gogetter.Getter{OnPackage: func(pkg *getmodules.Package) { fetched = pkg }}
		dst := filepath.Join(t.TempDir(), "parent", "net")
		if err := get(t.Context(), g, getter.Request{Src: test.src, Dst: dst, GetMode: test.mode}); err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		if diff := cmp.Diff(test.want, testenv.Files(t, dst)); diff != "" {
			t.Errorf("%s: tree (-want +got):\n%s", test.src, diff)
		}
		if fetched == nil || len(fetched.LeftOut) != 1 {
			t.Errorf("%s: OnPackage got %+v, want a package with a link left out", test.src, fetched)
		}
	}
}

func TestGetterUmask(t *testing.T) {
	t.Parallel()
	address := fileAddress(t, "net.zip", testenv.Zip(t, map[string]string{"d/main.tf": "x"}))
	dst := filepath.Join(t.TempDir(), "net")
	testenv.Must(t, get(t.Context(), &gogetter.Getter{}, getter.Request{Src: address, Dst: dst, GetMode: getter.ModeDir, Umask: 0o077}))
	for _, name := range []string{".", "d", "d/main.tf"} {
		info, err := os.Lstat(filepath.Join(dst, name))
		testenv.Must(t, err)
		if open := info.Mode().Perm() & 0o077; open != 0 && os.PathSeparator == '/' {
			t.Errorf("%s has mode %s, want nothing for others", name, info.Mode())
		}
	}
}

// TestGetterRefuses checks that an archive is refused even if go-getter itself would extract it.
func TestGetterRefuses(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	for query, want := range map[string]error{"": getmodules.ErrUnsafeEntry, "?checksum=md5:d41d8cd98f00b204e9800998ecf8427e": getmodules.ErrChecksum} {
		address := fileAddress(t, "net.zip", testenv.Zip(t, map[string]string{".git/hooks/post-checkout": ""}))
		err := get(t.Context(), &gogetter.Getter{Fetcher: &getmodules.Fetcher{}}, getter.Request{Src: address + query, Dst: filepath.Join(parent, "net"), GetMode: getter.ModeDir})
		if !errors.Is(err, want) {
			t.Errorf("%s: error is %v, want %v", query, err, want)
		}
		if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
			t.Errorf("%s: left are %v, %v", query, left, err)
		}
	}
}

func TestGetterDestination(t *testing.T) {
	t.Parallel()
	address := fileAddress(t, "net.zip", testenv.Zip(t, map[string]string{"main.tf": "x"}))
	empty, full, link := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "link")
	testenv.Must(t, os.WriteFile(filepath.Join(full, "mine"), nil, 0o600))
	if err := os.Symlink(full, link); err != nil {
		t.Skip(err)
	}
	if err := get(t.Context(), &gogetter.Getter{}, getter.Request{Src: address, Dst: empty, GetMode: getter.ModeDir}); err != nil {
		t.Errorf("empty directory: %v", err)
	}
	for _, dst := range []string{full, link} {
		if err := get(t.Context(), &gogetter.Getter{}, getter.Request{Src: address, Dst: dst, GetMode: getter.ModeDir}); err == nil {
			t.Errorf("%s was replaced", dst)
		}
	}
	if err := get(t.Context(), &gogetter.Getter{}, getter.Request{Src: address, Dst: link, GetMode: getter.ModeDir}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("link: error is %v, want fs.ErrExist", err)
	}
	if diff := cmp.Diff(map[string]string{"mine": ""}, testenv.Files(t, full)); diff != "" {
		t.Errorf("the full directory (-want +got):\n%s", diff)
	}
}

// TestGetterDetect checks which addresses the getter handles and which it leaves to a
// client's other getters.
func TestGetterDetect(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"https://h/net.zip":          true,
		"git::https://h/net.git":     true,
		"github.com/org/net":         true,
		"git@github.com:org/net":     true,
		"oci://h/net":                true,
		"acme::https://h/net":        true,
		"./net":                      false,
		"../net":                     false,
		"org/net/aws":                false,
		"registry.example.com/a/b/c": false,
		"":                           false,
		"not an address":             false,
	}
	for src, want := range tests {
		if got, err := getter.Detect(&getter.Request{Src: src}, &gogetter.Getter{}); got != want || err != nil {
			t.Errorf("Detect(%q) = %v, %v; want %v", src, got, err, want)
		}
	}
	address := fileAddress(t, "net.zip", nil)
	if err := get(t.Context(), &gogetter.Getter{}, getter.Request{Src: address, Dst: filepath.Join(t.TempDir(), "net.zip"), GetMode: getter.ModeFile}); err == nil {
		t.Error("a single file was fetched")
	}
	if err := new(gogetter.Getter).Get(t.Context(), &getter.Request{Src: address}); err == nil {
		t.Error("a request without Detect was answered")
	}
}
