package providerzip_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/testenv"
)

type entry struct {
	name, content string
	mode          fs.FileMode
	change        func(*zip.FileHeader)
}

// archive returns an archive that begins with an executable of the type "x".
func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	return bare(t, append([]entry{{name: "terraform-provider-x_v1", content: "#!", mode: 0o755}}, entries...)...)
}

func bare(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		header.SetMode(e.mode)
		if e.change != nil {
			e.change(header)
		}
		out, err := w.CreateHeader(header)
		if err == nil {
			_, err = io.WriteString(out, e.content)
		}
		if err != nil && !(strings.HasSuffix(e.name, "/") && e.content != "") {
			t.Fatal(err)
		}
	}
	testenv.Must(t, w.Close())
	return b.Bytes()
}

// unpack unpacks an archive in both ways. It returns the files that were written, or the error.
func unpack(t testing.TB, raw []byte) (map[string]string, error) {
	t.Helper()
	a, err := providerzip.Open(bytes.NewReader(raw), int64(len(raw)), "x")
	if err != nil {
		return nil, err
	}
	hash, hashErr := a.Hash(t.Context())
	parent := t.TempDir()
	dir := filepath.Join(parent, "package")
	h1, err := a.Unpack(t.Context(), dir)
	if (err == nil) != (hashErr == nil) || h1 != hash {
		t.Fatalf("Unpack = %q, %v; Hash = %q, %v", h1, err, hash, hashErr)
	}
	if err != nil {
		if left, _ := os.ReadDir(parent); len(left) != 0 {
			t.Errorf("after the error %v there is %v", err, left)
		}
		return nil, err
	}
	if want, err := hashing.Dir(t.Context(), dir); err != nil || h1 != want {
		t.Errorf("h1 = %q, that of the directory is %q, %v", h1, want, err)
	}
	return files(t, dir), nil
}

// files returns the mode and content of each file in a directory.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(name)] = fmt.Sprintf("%v %s", info.Mode(), text)
		return err
	})
	testenv.Must(t, err)
	return found
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	got, err := unpack(t, bare(t,
		entry{name: "terraform-provider-x_v1.0.0_x5", content: "#!", mode: 0o644},
		entry{name: "LICENSE", content: "free", mode: 0o666},
		entry{name: "docs/", mode: fs.ModeDir | 0o700},
		entry{name: "docs/a.md", content: "# A", mode: 0o600},
		entry{name: "bin/helper", content: "help", mode: fs.ModeSetuid | 0o755},
		entry{name: "empty/", mode: fs.ModeDir | 0o755},
		entry{name: "terraform-provider-x", content: "old", change: func(h *zip.FileHeader) { h.CreatorVersion, h.ExternalAttrs = 0, 0 }},
	))
	want := map[string]string{
		"terraform-provider-x_v1.0.0_x5": "-rwxr-xr-x #!",
		"terraform-provider-x":           "-rwxr-xr-x old",
		"LICENSE":                        "-rw-r--r-- free",
		"docs/a.md":                      "-rw-r--r-- # A",
		"bin/helper":                     "-rwxr-xr-x help",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Unpack: %v (-want +got):\n%s", err, diff)
	}
}

// TestRefused has archives that must be refused.
func TestRefused(t *testing.T) {
	t.Parallel()
	plain := archive(t)
	device := func(kind uint32) func(*zip.FileHeader) {
		return func(h *zip.FileHeader) { h.CreatorVersion, h.ExternalAttrs = 3<<8, kind<<16 }
	}
	edited := func(edit func([]byte)) []byte {
		raw := archive(t, entry{name: "a", content: "content"})
		edit(raw)
		return raw
	}
	outside := func(raw []byte) []byte { // only the local header has it
		copy(raw[bytes.Index(raw, []byte("aaaaaaa")):], "../../x")
		return raw
	}
	central := func(raw []byte) []byte { return raw[bytes.LastIndex(raw, []byte("PK\x01\x02")):] }
	local := func(raw []byte) []byte { return raw[bytes.LastIndex(raw, []byte("PK\x03\x04")):] }
	end := func(raw []byte) []byte { return raw[bytes.LastIndex(raw, []byte("PK\x05\x06")):] }
	for name, test := range map[string]struct {
		raw  []byte
		want string
	}{
		"a parent directory":       {archive(t, entry{name: "../x"}), `".."`},
		"a parent further down":    {archive(t, entry{name: "a/../../x"}), `".."`},
		"an absolute name":         {archive(t, entry{name: "/etc/x"}), "absolute"},
		"a backslash":              {archive(t, entry{name: `a\x`}), "backslash"},
		"a control character":      {archive(t, entry{name: "a\nx"}), "control character"},
		"git metadata":             {archive(t, entry{name: ".git/config"}), "version control"},
		"no name":                  {archive(t, entry{name: ""}), "empty component"},
		"a symbolic link":          {archive(t, entry{name: "l", content: "/etc/passwd", mode: fs.ModeSymlink | 0o777}), "a symbolic link"},
		"a link to a directory":    {archive(t, entry{name: "l", content: "/tmp", mode: fs.ModeSymlink | 0o777}, entry{name: "l/x"}), "a symbolic link"},
		"a device":                 {archive(t, entry{name: "d", change: device(0o060644)}), "a device"},
		"a named pipe":             {archive(t, entry{name: "d", change: device(0o010644)}), "a named pipe"},
		"a socket":                 {archive(t, entry{name: "d", change: device(0o140644)}), "a socket"},
		"a duplicate":              {archive(t, entry{name: "a"}, entry{name: "a"}), "twice"},
		"a duplicate directory":    {archive(t, entry{name: "a/", mode: fs.ModeDir}, entry{name: "a/", mode: fs.ModeDir}), "twice"},
		"a file and a directory":   {archive(t, entry{name: "a"}, entry{name: "a/", mode: fs.ModeDir}), "a file and a directory"},
		"a file as a parent":       {archive(t, entry{name: "a/b"}, entry{name: "a"}), "a file and a directory"},
		"a directory by mode":      {archive(t, entry{name: "a", mode: fs.ModeDir | 0o755}), "its mode disagree"},
		"a foreign method":         {edited(func(raw []byte) { binary.LittleEndian.PutUint16(central(raw)[10:], 12) }), "method 12"},
		"encryption":               {edited(func(raw []byte) { central(raw)[8] |= 1 }), "encrypted"},
		"a wrong checksum":         {edited(func(raw []byte) { central(raw)[16] ^= 1 }), "checksum"},
		"more content than said":   {edited(func(raw []byte) { central(raw)[24]-- }), "is damaged"},
		"less content than said":   {edited(func(raw []byte) { central(raw)[24]++ }), "is damaged"},
		"a large file":             {edited(func(raw []byte) { binary.LittleEndian.PutUint32(central(raw)[24:], 3<<30) }), "more than 2147483648 bytes"},
		"a high ratio":             {edited(func(raw []byte) { binary.LittleEndian.PutUint32(central(raw)[24:], 65<<20) }), "100 times"},
		"another local name":       {edited(func(raw []byte) { local(raw)[30] = 'b' }), "local header disagrees"},
		"a local name outside":     {outside(archive(t, entry{name: "aaaaaaa", content: "content"})), "local header disagrees"},
		"another local flag":       {edited(func(raw []byte) { local(raw)[6] ^= 2 }), "local header disagrees"},
		"another local size":       {edited(func(raw []byte) { local(raw)[22]++ }), "local header disagrees"},
		"another local checksum":   {edited(func(raw []byte) { local(raw)[14]++ }), "local header disagrees"},
		"an entry not listed":      {edited(func(raw []byte) { end(raw)[8]--; end(raw)[10]-- }), "more entries than its end record says"},
		"data behind":              {append(slices.Clone(plain), "x"...), "data after its end"},
		"data in front":            {append([]byte("x"), plain...), "not at the offset"},
		"a missing zip64 record":   {edited(func(raw []byte) { copy(end(raw)[8:], "\xff\xff\xff\xff") }), "one of them is missing"},
		"many entries":             {bare(t, slices.Repeat([]entry{{name: "a"}}, 10_001)...), "10000 entries"},
		"a large directory":        {bare(t, slices.Repeat([]entry{{name: "a", change: func(h *zip.FileHeader) { h.Comment = strings.Repeat("c", 60_000) }}}, 300)...), "a directory of more than"},
		"a truncated archive":      {plain[:len(plain)-1], "truncated"},
		"a truncated end":          {plain[:len(plain)-22], "truncated"},
		"nothing":                  {nil, "not a zip file"},
		"text":                     {[]byte(strings.Repeat("text\n", 20)), "not a zip file"},
		"no executable":            {bare(t, entry{name: "README"}), `no file named "terraform-provider-x"`},
		"an empty archive":         {bare(t), `no file`},
		"an executable further in": {bare(t, entry{name: "bin/terraform-provider-x"}), "no file"},
		"one of another type":      {bare(t, entry{name: "terraform-provider-xy"}), "no file"},
	} {
		_, err := unpack(t, test.raw)
		if _, ok := errors.AsType[*providerzip.RefusedError](err); !ok || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// If the file system cannot store two of the names, unpacking fails as it does for other disk
// errors, and no files are left.
func TestUnpackFails(t *testing.T) {
	t.Parallel()
	raw := archive(t, entry{name: "a"})
	a, err := providerzip.Open(bytes.NewReader(raw), int64(len(raw)), "x")
	testenv.Must(t, err)
	dir := t.TempDir()
	if _, err := a.Unpack(t.Context(), dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Unpack to an existing directory = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	to := filepath.Join(dir, "new")
	if _, err := a.Unpack(ctx, to); !errors.Is(err, context.Canceled) {
		t.Errorf("Unpack with a canceled context = %v", err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Unpack left %v", err)
	}
	if _, err := a.Hash(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Hash with a canceled context = %v", err)
	}
}

// FuzzUnpack checks that every accepted archive stays in its directory and has the hash that was
// computed while unpacking.
func FuzzUnpack(f *testing.F) {
	f.Add(archive(f))
	f.Add(archive(f, entry{name: "a/b", content: "b"}, entry{name: "a/", mode: fs.ModeDir}))
	f.Add(archive(f, entry{name: "../x"}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, err := unpack(t, raw); err != nil {
			if _, ok := errors.AsType[*providerzip.RefusedError](err); !ok {
				t.Errorf("%v is no *RefusedError", err)
			}
		}
	})
}
