package getmodules_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
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

// swapDirectory has the directory name two entries of equal size in the order
// opposite to that of their places.
func swapDirectory(z *rawZip) {
	size := len(z.entries[0].local.encode(make([]byte, 6), nil)) + len(z.entries[0].data)
	a, b := z.entries[0], z.entries[1]
	a.central, b.central = b.central, a.central
	a.shift, b.shift = size, -size
}

// header changes for the table below; each makes the two headers differ.
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
					continue // that is how it is
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

func TestZipRefused(t *testing.T) {
	t.Parallel()
	a := func() *zipRaw { return rawFile("a", "text") }
	mode := func(m uint32) *zipRaw { return a().but(func(e *zipRaw) { e.attributes = m << 16 }) }
	extra := func(id uint16, body string) *zipRaw {
		field := binary.LittleEndian.AppendUint16(nil, id)
		field = append(binary.LittleEndian.AppendUint16(field, uint16(len(body))), body...)
		return a().both(func(h *zipRawHeader) { h.extra = field })
	}
	end := func(change func([]byte)) *rawZip {
		return newZip(a()).but(func(z *rawZip) { z.end = change })
	}
	tests := map[string]*rawZip{
		"no entries":          newZip(),
		"only directories":    newZip(rawDir("d")),
		"prefix":              newZip(a()).but(func(z *rawZip) { z.prefix = []byte("#!/bin/sh\n") }),
		"zip as prefix":       newZip(a()).but(func(z *rawZip) { z.prefix = newZip(rawFile("b", "")).bytes() }),
		"suffix":              newZip(a()).but(func(z *rawZip) { z.suffix = []byte("x") }),
		"zip as suffix":       newZip(a()).but(func(z *rawZip) { z.suffix = newZip(rawFile("b", "")).bytes() }),
		"zip as comment":      newZip(a()).but(func(z *rawZip) { z.comment = newZip(rawFile("b", "")).bytes() }),
		"end in comment":      newZip(a()).but(func(z *rawZip) { z.comment = []byte("PK\x05\x06 and more than twenty-two bytes") }),
		"gap at the end":      newZip(a()).but(func(z *rawZip) { z.middle = []byte("gap") }),
		"gap before end":      newZip(a()).but(func(z *rawZip) { z.between = []byte("gap") }),
		"gap between":         newZip(a().but(func(e *zipRaw) { e.gap = []byte("gap") }), rawFile("b", "")),
		"hidden entry":        newZip(a(), rawFile("b", "").but(func(e *zipRaw) { e.hidden = true })),
		"hidden first":        newZip(rawFile("b", "").but(func(e *zipRaw) { e.hidden = true }), a()),
		"offset behind":       newZip(a().but(func(e *zipRaw) { e.shift = 1 })),
		"offset far":          newZip(a().but(func(e *zipRaw) { e.shift = 1 << 30 })),
		"overlap":             newZip(a(), rawFile("b", "").but(func(e *zipRaw) { e.shift = -10 })),
		"same place":          newZip(a(), a().but(func(e *zipRaw) { e.central.name, e.shift = "b", -36-len(e.data)+5 })),
		"twice":               newZip(a(), a()),
		"file and dir":        newZip(a(), rawDir("a")),
		"dir twice":           newZip(rawDir("a"), rawDir("a"), rawFile("a/b", "")),
		"by dot slash twice":  newZip(a(), rawFile("./a", "")),
		"encrypted":           newZip(a().both(func(h *zipRawHeader) { h.flags |= 1 })),
		"strongly encrypted":  newZip(a().both(func(h *zipRawHeader) { h.flags |= 1 << 6 })),
		"masked":              newZip(a().both(func(h *zipRawHeader) { h.flags |= 1 << 13 })),
		"patch":               newZip(a().both(func(h *zipRawHeader) { h.flags |= 1 << 5 })),
		"method 99":           newZip(a().both(func(h *zipRawHeader) { h.method = 99 })),
		"bzip2":               newZip(a().both(func(h *zipRawHeader) { h.method = 12 })),
		"zip64 field":         newZip(extra(1, strings.Repeat("\x00", 16))),
		"zip64 size":          newZip(a().both(func(h *zipRawHeader) { h.size = 1<<32 - 1 })),
		"second name":         newZip(extra(0x7075, "\x01crc.b")),
		"short second name":   newZip(extra(0x7075, "\x01")),
		"broken extra":        newZip(a().both(func(h *zipRawHeader) { h.extra = []byte("UT\xff\x00x") })),
		"short extra":         newZip(a().both(func(h *zipRawHeader) { h.extra = []byte("UT") })),
		"not utf-8":           newZip(rawFile("a\xff", "")),
		"other volume":        newZip(a().but(func(e *zipRaw) { e.disk = 1 })),
		"volume":              end(func(r []byte) { r[4] = 1 }),
		"volume of directory": end(func(r []byte) { r[6] = 1 }),
		"entries here":        end(func(r []byte) { r[8] = 2 }),
		"more entries":        end(func(r []byte) { r[8], r[10] = 2, 2 }),
		"fewer entries":       end(func(r []byte) { r[8], r[10] = 0, 0 }),
		"zip64 count":         end(func(r []byte) { r[8], r[9], r[10], r[11] = 0xff, 0xff, 0xff, 0xff }),
		"directory size":      end(func(r []byte) { r[12]++ }),
		"directory offset":    end(func(r []byte) { r[16]-- }),
		"comment length":      end(func(r []byte) { r[20]++ }),
		"character device":    newZip(mode(0o020644)),
		"block device":        newZip(mode(0o060644)),
		"pipe":                newZip(mode(0o010644)),
		"socket":              newZip(mode(0o140644)),
		"strange type":        newZip(mode(0o170644)),
		"dir by mode":         newZip(mode(0o040755)),
		"dir by name":         newZip(rawStored("d/", "").but(func(e *zipRaw) { e.attributes = 0o100644 << 16 }), a()),
		"link by name":        newZip(rawStored("d/", "").but(func(e *zipRaw) { e.attributes = 0o120644 << 16 }), a()),
		"link by windows":     newZip(rawLink("l", "a").but(func(e *zipRaw) { e.system = 0 }), a()),
		"dir with content":    newZip(rawDir("d").but(func(e *zipRaw) { *e = *rawStored("d/", "x"); e.attributes = 0o40755 << 16 }), a()),
		"data behind deflate": newZip(a().but(func(e *zipRaw) { e.data = append(e.data, 0); e.both(func(h *zipRawHeader) { h.packed++ }) })),
		"deflate cut off":     newZip(a().but(func(e *zipRaw) { e.data = e.data[1:]; e.both(func(h *zipRawHeader) { h.packed-- }) })),
		"zip64 locator":       newZip(a()).but(func(z *rawZip) { z.between = append([]byte("PK\x06\x07"), make([]byte, 16)...) }),
		"two ends":            newZip(a()).but(func(z *rawZip) { z.middle = append([]byte("PK\x05\x06"), bytes.Repeat([]byte{0}, 18)...) }),
		"descriptor unasked":  newZip(described(a(), true).but(func(e *zipRaw) { e.both(func(h *zipRawHeader) { h.flags = 0 }) })),
		"descriptor missing":  newZip(described(a(), true).but(func(e *zipRaw) { e.descriptor = nil })),
		"descriptor lies":     newZip(described(a(), true).but(func(e *zipRaw) { e.descriptor[5]++ })),
		"descriptor of 64":    newZip(described(a(), true).but(func(e *zipRaw) { e.descriptor = append(e.descriptor, make([]byte, 8)...) })),
		"long link":           newZip(a(), rawLink("l", strings.Repeat("./", 600)+"a")),
	}
	for name, zip := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := extract(t, "zip", zip.bytes(), getmodules.Limits{})
			wantRefused(t, name, err)
		})
	}
}
