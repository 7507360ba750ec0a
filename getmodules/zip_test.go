package getmodules_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
)

func TestZipAccepted(t *testing.T) {
	t.Parallel()
	timeField := []byte("UT\x05\x00\x01aaaa")
	inner := newZip(rawStored("inner", "x")).bytes()
	tests := map[string]struct {
		zip  *rawZip
		want map[string]string
	}{
		"deflated":             {newZip(rawFile("a", "text")), map[string]string{"a": "text"}},
		"stored":               {newZip(rawStored("a", "text")), map[string]string{"a": "text"}},
		"empty file":           {newZip(rawFile("a", ""), rawStored("b", "")), map[string]string{"a": "", "b": ""}},
		"directories":          {newZip(rawDir("d"), rawFile("d/a", "1"), rawDir("e")), map[string]string{"d": "dir", "d/a": "1", "e": "dir"}},
		"directory afterwards": {newZip(rawFile("d/a", "1"), rawDir("d")), map[string]string{"d": "dir", "d/a": "1"}},
		"link":                 {newZip(rawLink("l", "a"), rawFile("a", "1")), map[string]string{"l": "link:a", "a": "1"}},
		"executable":           {newZip(rawFile("a", "1").but(func(e *zipRaw) { e.attributes = 0o104711 << 16 })), map[string]string{"a": "exec:1"}},
		"no type in the mode":  {newZip(rawFile("a", "1").but(func(e *zipRaw) { e.attributes = 0o644 << 16 })), map[string]string{"a": "1"}},
		"by windows":           {newZip(rawFile("a", "1").but(func(e *zipRaw) { e.system, e.attributes = 0, 0x20 })), map[string]string{"a": "1"}},
		"by macos":             {newZip(rawLink("l", "a").but(func(e *zipRaw) { e.system = 19 }), rawFile("a", "")), map[string]string{"l": "link:a", "a": ""}},
		"descriptor":           {newZip(described(rawFile("a", "1"), true), rawFile("b", "2")), map[string]string{"a": "1", "b": "2"}},
		"plain descriptor":     {newZip(described(rawFile("a", "1"), false), described(rawFile("b", "2"), false)), map[string]string{"a": "1", "b": "2"}},
		"sizes said twice":     {newZip(described(rawFile("a", "1"), true).but(func(e *zipRaw) { e.local = e.central })), map[string]string{"a": "1"}},
		"comment":              {newZip(rawFile("a", "1")).but(func(z *rawZip) { z.comment = []byte("7c1f791efd61f326ed6102d564d1a65d1eceedf0") }), map[string]string{"a": "1"}},
		"extra fields":         {newZip(rawFile("a", "1").both(func(h *zipRawHeader) { h.extra = timeField })), map[string]string{"a": "1"}},
		"unicode":              {newZip(rawFile("é", "1").both(func(h *zipRawHeader) { h.flags |= 1 << 11 })), map[string]string{"é": "1"}},
		"dot slash":            {newZip(rawDir("."), rawFile("./a", "1")), map[string]string{"a": "1"}},
		"zip in zip":           {newZip(rawFile("a", "1"), rawStored("x.zip", string(inner))), map[string]string{"a": "1", "x.zip": string(inner)}},
		"directory unordered":  {newZip(rawFile("a", "1"), rawFile("b", "2")).but(swapDirectory), map[string]string{"a": "1", "b": "2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := extract(t, "zip", test.zip.bytes(), getmodules.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("tree differs (-want +got):\n%s", diff)
			}
		})
	}
}

// swapDirectory makes the central directory list two entries of equal size in the opposite
// order of their contents.
func swapDirectory(z *rawZip) {
	size := len(z.entries[0].local.encode(make([]byte, 6), nil)) + len(z.entries[0].data)
	a, b := z.entries[0], z.entries[1]
	a.central, b.central = b.central, a.central
	a.shift, b.shift = size, -size
}

var zipDisagreements = map[string]func(*zipRawHeader){
	"name":        func(h *zipRawHeader) { h.name = "b" },
	"name length": func(h *zipRawHeader) { h.name = "ab" },
	"method":      func(h *zipRawHeader) { h.method ^= 8 },
	"utf-8 flag":  func(h *zipRawHeader) { h.flags ^= 1 << 11 },
	"level flag":  func(h *zipRawHeader) { h.flags ^= 2 },
	"descriptor":  func(h *zipRawHeader) { h.flags ^= 8 },
	"checksum":    func(h *zipRawHeader) { h.crc++ },
	"packed size": func(h *zipRawHeader) { h.packed++ },
	"size":        func(h *zipRawHeader) { h.size++ },
	"less packed": func(h *zipRawHeader) { h.packed-- },
	"less size":   func(h *zipRawHeader) { h.size-- },
	"no size":     func(h *zipRawHeader) { h.size, h.packed, h.crc = 0, 0, 0 },
	"huge packed": func(h *zipRawHeader) { h.packed = 1<<32 - 2 },
	"huge size":   func(h *zipRawHeader) { h.size = 1<<32 - 2 },
}

func TestZipDisagreements(t *testing.T) {
	t.Parallel()
	kinds := map[string]func() *zipRaw{
		"stored":   func() *zipRaw { return rawStored("a", "text") },
		"deflated": func() *zipRaw { return rawFile("a", "text") },
		"descriptor": func() *zipRaw {
			return described(rawFile("a", "text"), true)
		},
		"plain descriptor": func() *zipRaw { return described(rawFile("a", "text"), false) },
	}
	for kind, entry := range kinds {
		for name, change := range zipDisagreements {
			sides := map[string]func(*zipRaw){
				"local":   func(e *zipRaw) { change(&e.local) },
				"central": func(e *zipRaw) { change(&e.central) },
			}
			if name != "name" && name != "name length" && name != "utf-8 flag" && name != "level flag" {
				sides["both"] = func(e *zipRaw) { e.both(change) }
			}
			for side, apply := range sides {
				if kind != "stored" && kind != "deflated" && side == "local" && name == "no size" {
					continue // valid: with a descriptor, the local header has no sizes
				}
				what := fmt.Sprintf("%s of %s, %s", name, kind, side)
				for i, position := range []string{"only", "first", "last"} {
					entries := []*zipRaw{entry().but(apply)}
					entries = slices.Concat([]*zipRaw{rawFile("y", "1")}[:i/2], entries, []*zipRaw{rawFile("z", "2")}[:i%2])
					_, _, err := extract(t, "zip", newZip(entries...).bytes(), getmodules.Limits{})
					wantRefused(t, what+", "+position, err)
				}
			}
		}
	}
}
