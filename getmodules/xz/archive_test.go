package xz_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/xz"
	"github.com/cotterpin/cotter/internal/testenv"
)

// tarOf returns a tar file with these headers. The content of a file comes from its
// "comment" record.
func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		text := h.PAXRecords["comment"] // the file's content
		h.PAXRecords, h.Size = nil, int64(len(text))
		testenv.Must(t, w.WriteHeader(&h))
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Must(t, w.Close())
	return out.Bytes()
}

func file(name, text string) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, PAXRecords: map[string]string{"comment": text}}
}

func link(flag byte, name, target string) tar.Header {
	return tar.Header{Typeflag: flag, Name: name, Linkname: target, Mode: 0o777}
}

func fetch(ctx context.Context, t testing.TB, f *getmodules.Fetcher, name, arguments string, archive []byte) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	testenv.Must(t, os.WriteFile(name, archive, 0o600))
	address := "file://" + filepath.ToSlash(name) + arguments
	return testenv.Fetch(t, t.TempDir(), func(dir string) (*getmodules.Package, error) {
		return f.Fetch(ctx, getmodules.Request{Package: addrs.ParseModulePackage(address), Dir: dir})
	})
}

func TestArchive(t *testing.T) {
	t.Parallel()
	archive := packed(t, tarOf(t, file("main.tf", "x"), link(tar.TypeSymlink, "l", "main.tf"), link(tar.TypeSymlink, "out", "../x")))
	f := &getmodules.Fetcher{XZ: xz.NewReader}
	for name, arguments := range map[string]string{"a.tar.xz": "", "a.txz": "", "a": "?archive=tar.xz", "b": "?archive=txz"} {
		got, pkg, err := fetch(t.Context(), t, f, name, arguments, archive)
		if err != nil {
			t.Errorf("%s%s: %v", name, arguments, err)
			continue
		}
		if diff := cmp.Diff(map[string]string{"main.tf": "x", "l": "link:main.tf"}, got); diff != "" {
			t.Errorf("%s%s: tree (-want +got):\n%s", name, arguments, diff)
		}
		if want := name + strings.Replace(arguments, "txz", "tar.xz", 1); !strings.HasSuffix(pkg.Resolved.String(), "/"+want) {
			t.Errorf("%s%s: Resolved is %s, want one that says that it is an archive", name, arguments, pkg.Resolved)
		}
		if len(pkg.LeftOut) != 1 || pkg.LeftOut[0].Path != "out" || !strings.HasPrefix(pkg.ArchiveSum, "zh:") {
			t.Errorf("%s%s: package is %+v, want the link \"out\" left out and a sum", name, arguments, pkg)
		}
	}
	for _, name := range []string{"a.tar.xz", "a.txz"} {
		if _, _, err := fetch(t.Context(), t, &getmodules.Fetcher{}, name, "", archive); !errors.Is(err, getmodules.ErrUnsupportedArchive) {
			t.Errorf("%s without XZ: error is %v, want ErrUnsupportedArchive", name, err)
		}
	}
	for name, arguments := range map[string]string{"a.xz": "", "a.zip": "?archive=xz"} {
		if _, _, err := fetch(t.Context(), t, f, name, arguments, archive); !errors.Is(err, getmodules.ErrUnsupportedArchive) {
			t.Errorf("%s%s: error is %v, want ErrUnsupportedArchive", name, arguments, err)
		}
	}
}

// TestArchiveRefused checks archives that must be refused.
func TestArchiveRefused(t *testing.T) {
	t.Parallel()
	good := tarOf(t, file("main.tf", "x"))
	archive := packed(t, good)
	// This archive has 65 MiB of zeros, which xz compresses to 10 KiB.
	bomb, err := os.ReadFile(filepath.Join("testdata", "zeros.tar.xz"))
	testenv.Must(t, err)
	tests := map[string]struct {
		archive []byte
		limits  getmodules.Limits
		want    error
	}{
		"no tar":              {packed(t, []byte("x")), getmodules.Limits{}, getmodules.ErrUnsafeArchive},
		"nothing":             {packed(t, nil), getmodules.Limits{}, getmodules.ErrUnsafeArchive},
		"no files":            {packed(t, tarOf(t)), getmodules.Limits{}, getmodules.ErrEmpty},
		"truncated tar":       {packed(t, good[:len(good)-512]), getmodules.Limits{}, getmodules.ErrUnsafeArchive},
		"text behind tar":     {packed(t, append(slices.Clone(good), "x"...)), getmodules.Limits{}, getmodules.ErrUnsafeArchive},
		"truncated":           {archive[:len(archive)-1], getmodules.Limits{}, getmodules.ErrUnsafeArchive},
		"trailing byte":       {append(slices.Clone(archive), 0), getmodules.Limits{}, getmodules.ErrUnsafeArchive},
		"stream padding":      {append(slices.Clone(archive), 0, 0, 0, 0), getmodules.Limits{}, getmodules.ErrUnsafeArchive},
		"second stream":       {slices.Concat(archive, archive), getmodules.Limits{}, getmodules.ErrUnsafeArchive},
		"empty second stream": {slices.Concat(archive, packed(t, nil)), getmodules.Limits{}, getmodules.ErrUnsafeArchive},
		"gzip":                {[]byte("\x1f\x8b\x08"), getmodules.Limits{}, getmodules.ErrNotArchive},
		"file below a link": {packed(t, tarOf(t, link(tar.TypeSymlink, "d", ".."), file("d/x", ""))),
			getmodules.Limits{}, getmodules.ErrUnsafeEntry},
		"tree limit":       {packed(t, tarOf(t, file("a", "x"), file("b", "x"))), getmodules.Limits{TreeBytes: 1}, getmodules.ErrTooLarge},
		"download":         {archive, getmodules.Limits{DownloadBytes: int64(len(archive)) - 1}, getmodules.ErrTooLarge},
		"bomb":             {bomb, getmodules.Limits{}, getmodules.ErrTooLarge},
		"large dictionary": {stream{blocks: []rawBlock{{content: string(good), dictionary: 40}}}.bytes(), getmodules.Limits{}, getmodules.ErrTooLarge},
		"another filter": {stream{blocks: []rawBlock{{content: string(good), filter: 4}}}.bytes(),
			getmodules.Limits{}, getmodules.ErrUnsupportedArchive},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &getmodules.Fetcher{XZ: xz.NewReader, Limits: test.limits}
			if _, _, err := fetch(t.Context(), t, f, "a.tar.xz", "", test.archive); !errors.Is(err, test.want) {
				t.Errorf("error is %v, want %v", err, test.want)
			}
		})
	}
}
