package hashing_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/hashing"
)

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
