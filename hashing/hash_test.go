package hashing_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/mod/sumdb/dirhash"
	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
)

func hashTable(t testing.TB, f func(want, hash string)) {
	t.Helper()
	text, err := os.ReadFile("../conformance/testdata/hashes.txt")
	testenv.Must(t, err)
	for line := range strings.Lines(string(text)) {
		want, hash, found := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if !found {
			t.Fatalf("bad line %q", line)
		}
		f(want, hash)
	}
}

func kindOfHash(h hashing.Hash, err error) string {
	var invalid *hashing.HashError
	switch {
	case errors.As(err, &invalid):
		return "invalid"
	case err != nil:
		return err.Error()
	case h.Strong():
		return "strong"
	case h.Known():
		return "known"
	}
	return "unknown"
}

func TestParseHash(t *testing.T) {
	t.Parallel()
	hashTable(t, func(want, text string) {
		hash, err := hashing.ParseHash(text)
		if got := kindOfHash(hash, err); got != want {
			t.Errorf("ParseHash(%q) is %s (%v), want %s", text, got, err, want)
		}
		if err == nil && string(hash) != text {
			t.Errorf("ParseHash(%q) = %q", text, hash)
		}
	})
}

func TestParseHashLimits(t *testing.T) {
	t.Parallel()
	if _, err := hashing.ParseHash("x:" + strings.Repeat("a", 510)); err != nil {
		t.Errorf("ParseHash of 512 bytes: %v", err)
	}
	_, err := hashing.ParseHash("x:" + strings.Repeat("a", 511))
	if err == nil || len(err.Error()) > 250 {
		t.Errorf("ParseHash of 513 bytes: error %v, want a short one", err)
	}
}

func TestScheme(t *testing.T) {
	t.Parallel()
	for hash, want := range map[hashing.Hash]string{"h1:x": "h1", "nar1:sha256:x": "nar1", "h1": "", "": ""} {
		if got := hash.Scheme(); got != want {
			t.Errorf("Hash(%q).Scheme() = %q, want %q", hash, got, want)
		}
	}
}

func FuzzParseHash(f *testing.F) {
	hashTable(f, func(_, hash string) { f.Add(hash) })
	f.Fuzz(func(t *testing.T, text string) {
		hash, err := hashing.ParseHash(text)
		if err != nil {
			return
		}
		if string(hash) != text || hash.Scheme() == "" || strings.ContainsAny(text, " \n\t\x00") {
			t.Errorf("ParseHash(%q) = %q of scheme %q", text, hash, hash.Scheme())
		}
	})
}

func TestH1LikeDirhash(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[a-c.-]{1,2}[a-cé]`)
	rapid.Check(t, func(rt *rapid.T) {
		fsys := fstest.MapFS{}
		for range rapid.IntRange(0, 8).Draw(rt, "files") {
			content := &fstest.MapFile{Data: rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(rt, "content")}
			// Top-level names end in f, so they never equal the name of a directory.
			path := name.Draw(rt, "name") + "f"
			if rapid.Bool().Draw(rt, "nested") {
				path = name.Draw(rt, "dir") + "/" + path
			}
			fsys[path] = content
		}
		dir := onDisk(t, fsys)
		want, err := dirhash.HashDir(dir, "", dirhash.Hash1)
		if err != nil {
			rt.Fatal(err)
		}
		if got, err := hashing.Dir(t.Context(), dir); err != nil || string(got) != want {
			rt.Fatalf("Dir = %v, %v, want %v", got, err, want)
		}
	})
}

// TestH1OfLinks compares h1 with the result of dirhash for the files that this package includes.
func TestH1OfLinks(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{"a/f": file("1"), "a/l": link("../b"), "b": executable("2"), "to-a": link("a"), "void": emptyDir()}
	content := map[string]string{"a/f": "1", "a/l": "2", "b": "2"}
	want, err := dirhash.Hash1([]string{"b", "a/l", "a/f"}, func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte(content[name]))), nil
	})
	testenv.Must(t, err)
	if got, err := hashing.FS(fsys); err != nil || string(got) != want {
		t.Errorf("FS = %v, %v, want %v", got, err, want)
	}
}

// TestT1Bytes spells out the specification for one tree.
func TestT1Bytes(t *testing.T) {
	t.Parallel()
	tree := readTree(t, fstest.MapFS{"a": executable("hi"), "d": emptyDir(), "l": link("a")})
	hi, none, target := sha256.Sum256([]byte("hi")), sha256.Sum256(nil), sha256.Sum256([]byte("a"))
	want := "\x00\x00\x00\x00\x00\x00\x00\x02t1" + "\x00\x00\x00\x00\x00\x00\x00\x03" +
		"\x00\x00\x00\x00\x00\x00\x00\x01a" + "x" + "\x00\x00\x00\x00\x00\x00\x00\x02" + string(hi[:]) +
		"\x00\x00\x00\x00\x00\x00\x00\x01d" + "d" + "\x00\x00\x00\x00\x00\x00\x00\x00" + string(none[:]) +
		"\x00\x00\x00\x00\x00\x00\x00\x01l" + "l" + "\x00\x00\x00\x00\x00\x00\x00\x01" + string(target[:])
	if got := string(hashing.T1Bytes(tree)); got != want {
		t.Errorf("T1Bytes = %q, want %q", got, want)
	}
	sum := sha256.Sum256([]byte(want))
	if got, want := string(tree.T1()), "t1:"+base64.StdEncoding.EncodeToString(sum[:]); got != want {
		t.Errorf("T1 = %v, want %v", got, want)
	}
}

// TestT1SeesWhatH1DoesNot has trees that have the same h1 and must have different t1 hashes.
func TestT1SeesWhatH1DoesNot(t *testing.T) {
	t.Parallel()
	base := fstest.MapFS{"f": file("1"), "g": file("1"), "d/f": file("2")}
	for name, other := range map[string]fstest.MapFS{
		"execute bit":       {"f": executable("1"), "g": file("1"), "d/f": file("2")},
		"empty directory":   {"f": file("1"), "g": file("1"), "d/f": file("2"), "e": emptyDir()},
		"link for a file":   {"f": file("1"), "g": link("f"), "d/f": file("2")},
		"link to directory": {"f": file("1"), "g": file("1"), "d/f": file("2"), "l": link("d")},
		"spelling of link":  {"f": file("1"), "g": link("./f"), "d/f": file("2")},
	} {
		a, b := readTree(t, base), readTree(t, other)
		if a.H1() != b.H1() {
			t.Errorf("%s: h1 differs", name)
		}
		if a.T1() == b.T1() {
			t.Errorf("%s: t1 is the same", name)
		}
	}
}

// anyTree draws trees whose names could be confused with other fields.
var anyTree = rapid.Custom(func(t *rapid.T) *hashing.Tree {
	names := rapid.SliceOfNDistinct(rapid.StringMatching("[\x01fxld]{1,3}"), 0, 4, rapid.ID).Draw(t, "names")
	slices.Sort(names)
	tree := &hashing.Tree{}
	for _, name := range names {
		e := hashing.Entry{Path: name, Kind: rapid.SampledFrom([]hashing.Kind{hashing.File, hashing.ExecFile, hashing.Link, hashing.EmptyDir}).Draw(t, "kind")}
		switch e.Kind {
		case hashing.File, hashing.ExecFile:
			content := rapid.StringMatching("[fx]{0,3}").Draw(t, "content")
			e.Size, e.Sum = int64(len(content)), sha256.Sum256([]byte(content))
		case hashing.Link:
			e.Target = rapid.StringMatching("[fx]{1,3}").Draw(t, "target")
		}
		tree.Entries = append(tree.Entries, e)
	}
	return tree
})

// TestT1IsInjective parses the hashed bytes. If the tree can be restored from them, different
// trees have different bytes.
func TestT1IsInjective(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyTree.Draw(t, "a"), anyTree.Draw(t, "b")
		if got, want := decodeT1(hashing.T1Bytes(a)), describe(a); got != want {
			t.Fatalf("the bytes read back as\n%s\nwant\n%s", got, want)
		}
		if describe(a) != describe(b) && bytes.Equal(hashing.T1Bytes(a), hashing.T1Bytes(b)) {
			t.Fatalf("the bytes of\n%sand\n%sare the same", describe(a), describe(b))
		}
	})
}

func describe(tree *hashing.Tree) string {
	var b strings.Builder
	fmt.Fprintf(&b, "t1, %d entries\n", len(tree.Entries))
	for _, e := range tree.Entries {
		size, sum := e.Size, e.Sum
		if e.Kind == hashing.Link || e.Kind == hashing.EmptyDir {
			size, sum = int64(len(e.Target)), sha256.Sum256([]byte(e.Target))
		}
		fmt.Fprintf(&b, "%q %c %d %x\n", e.Path, e.Kind, size, sum)
	}
	return b.String()
}

func decodeT1(data []byte) string {
	number := func() uint64 {
		n := binary.BigEndian.Uint64(data)
		data = data[8:]
		return n
	}
	take := func(n uint64) string {
		s := string(data[:n])
		data = data[n:]
		return s
	}
	var b strings.Builder
	scheme := take(number())
	count := number()
	fmt.Fprintf(&b, "%s, %d entries\n", scheme, count)
	for range count {
		path := take(number())
		kind := take(1)
		size := number()
		fmt.Fprintf(&b, "%q %s %d %x\n", path, kind, size, take(32))
	}
	return b.String() + string(data)
}

func TestNewTree(t *testing.T) {
	t.Parallel()
	want := readTree(t, fstest.MapFS{"b/x": file("1"), "a": file("2"), "a.b": file("3"), "l": link("a"), "d": &fstest.MapFile{Mode: fs.ModeDir}})
	entries := slices.Clone(want.Entries)
	slices.Reverse(entries)
	for i := range entries {
		if entries[i].Kind == hashing.Link {
			entries[i].Sum = [32]byte{}
		}
	}
	got, err := hashing.NewTree(entries)
	if err != nil || got.T1() != want.T1() || got.H1() != want.H1() {
		t.Errorf("NewTree = %v, %v, want %v", got, err, want)
	}
	var refused *hashing.TreeError
	for _, extra := range []hashing.Entry{{Path: "a", Kind: hashing.File}, {Path: "a/below", Kind: hashing.File}, {Path: "z", Kind: hashing.Link, Target: "nothing"}} {
		if _, err := hashing.NewTree(append(slices.Clone(entries), extra)); !errors.As(err, &refused) {
			t.Errorf("NewTree with %q: error %v, want a *TreeError", extra.Path, err)
		}
	}
}
