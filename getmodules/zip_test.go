package getmodules_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
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
		"one size said twice":  {newZip(described(rawFile("a", "1"), true).but(func(e *zipRaw) { e.local.size = 1 })), map[string]string{"a": "1"}},
		"sizes said twice":     {newZip(described(rawFile("a", "1"), true).but(func(e *zipRaw) { e.local = e.central })), map[string]string{"a": "1"}},
		"comment":              {newZip(rawFile("a", "1")).but(func(z *rawZip) { z.comment = []byte("7c1f791efd61f326ed6102d564d1a65d1eceedf0") }), map[string]string{"a": "1"}},
		"wide and known":       {newZip(wideAndKnown(rawFile("a", "1"))), map[string]string{"a": "1"}},
		"extra fields":         {newZip(rawFile("a", "1").both(func(h *zipRawHeader) { h.extra = timeField })), map[string]string{"a": "1"}},
		"unicode":              {newZip(rawFile("é", "1").both(func(h *zipRawHeader) { h.flags |= 1 << 11 })), map[string]string{"é": "1"}},
		"dot slash":            {newZip(rawDir("."), rawFile("./a", "1")), map[string]string{"a": "1"}},
		"zip in zip":           {newZip(rawFile("a", "1"), rawStored("x.zip", string(inner))), map[string]string{"a": "1", "x.zip": string(inner)}},
		"zip64":                {newZip(wide(rawFile("a", "1"), true), rawFile("b", "2")).but(zip64), map[string]string{"a": "1", "b": "2"}},
		"zip64 local only":     {newZip(wide(rawFile("a", "1"), false)), map[string]string{"a": "1"}},
		"zip64 descriptor":     {newZip(wideDescribed(rawFile("a", "1"))), map[string]string{"a": "1"}},
		"directory unordered":  {newZip(rawFile("a", "1"), rawFile("b", "2")).but(swapDirectory), map[string]string{"a": "1", "b": "2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := extract(t, "zip", test.zip.bytes(), getmodules.Limits{})
			testenv.Must(t, err)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("tree differs (-want +got):\n%s", diff)
			}
		})
	}
}

// wide gives the local header 64 bit sizes, and with central the directory too.
func wide(e *zipRaw, central bool) *zipRaw {
	sides := []*zipRawHeader{&e.local}
	if central {
		sides = append(sides, &e.central)
	}
	for _, h := range sides {
		h.extra = append(h.extra, 1, 0, 16, 0)
		h.extra = binary.LittleEndian.AppendUint64(h.extra, uint64(h.size))
		h.extra = binary.LittleEndian.AppendUint64(h.extra, uint64(h.packed))
		h.size, h.packed = 1<<32-1, 1<<32-1
	}
	return e
}

// wideAndKnown has sizes of 64 bits that the local header need not have, as Python before 3.11.4 writes them.
func wideAndKnown(e *zipRaw) *zipRaw {
	size, packed := e.local.size, e.local.packed
	wide(e, false)
	e.local.size, e.local.packed = size, packed
	return e
}

// wideDescribed is an entry of a stream of unknown length.
func wideDescribed(e *zipRaw) *zipRaw {
	sizes := e.central
	e = described(e, true)
	e.descriptor = binary.LittleEndian.AppendUint32([]byte("PK\x07\x08"), sizes.crc)
	e.descriptor = binary.LittleEndian.AppendUint64(e.descriptor, uint64(sizes.packed))
	e.descriptor = binary.LittleEndian.AppendUint64(e.descriptor, uint64(sizes.size))
	return wide(e, false)
}

// zip64 moves the values of the end record to one of 64 bits.
func zip64(z *rawZip) {
	z.wide = true
	z.end = func(r []byte) { copy(r[8:20], bytes.Repeat([]byte{0xff}, 12)) }
}

// but64 changes the end record of 64 bits, which its locator follows.
func but64(change func(record []byte)) func(*rawZip) {
	return func(z *rawZip) {
		zip64(z)
		z.end64 = change
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

func wantZipsRefused(t *testing.T, tests map[string]*rawZip) {
	t.Helper()
	for name, zip := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := extract(t, "zip", zip.bytes(), getmodules.Limits{})
			wantRefused(t, name, err)
		})
	}
}

// TestZipLayoutRefused checks archives whose parts are in the wrong place. Package internal/hostile has more
// archives, and all names, links and modes.
func TestZipLayoutRefused(t *testing.T) {
	t.Parallel()
	a := func() *zipRaw { return rawFile("a", "text") }
	end := func(change func([]byte)) *rawZip {
		return newZip(a()).but(func(z *rawZip) { z.end = change })
	}
	wantZipsRefused(t, map[string]*rawZip{
		"zip as comment":       newZip(a()).but(func(z *rawZip) { z.comment = newZip(rawFile("b", "")).bytes() }),
		"end in comment":       newZip(a()).but(func(z *rawZip) { z.comment = []byte("PK\x05\x06 and more than twenty-two bytes") }),
		"gap before end":       newZip(a()).but(func(z *rawZip) { z.between = []byte("gap") }),
		"gap between":          newZip(a().but(func(e *zipRaw) { e.gap = []byte("gap") }), rawFile("b", "")),
		"hidden entry":         newZip(a(), rawFile("b", "").but(func(e *zipRaw) { e.hidden = true })),
		"same place":           newZip(a(), a().but(func(e *zipRaw) { e.central.name, e.shift = "b", -36-len(e.data)+5 })),
		"file and dir":         newZip(a(), rawDir("a")),
		"dir twice":            newZip(rawDir("a"), rawDir("a"), rawFile("a/b", "")),
		"by dot slash twice":   newZip(a(), rawFile("./a", "")),
		"more entries":         end(func(r []byte) { r[8], r[10] = 2, 2 }),
		"fewer entries":        end(func(r []byte) { r[8], r[10] = 0, 0 }),
		"zip64 locator":        newZip(a()).but(func(z *rawZip) { z.between = append([]byte("PK\x06\x07"), make([]byte, 16)...) }),
		"marker without zip64": end(func(r []byte) { copy(r[8:12], "\xff\xff\xff\xff") }),
		"zip64 disagrees": newZip(a(), a()).but(func(z *rawZip) {
			zip64(z)
			z.end = func(r []byte) { copy(r[12:20], bytes.Repeat([]byte{0xff}, 8)); r[8], r[10] = 1, 1 }
		}),
		"zip64 with gap":     newZip(a()).but(func(z *rawZip) { zip64(z); z.between = []byte("gap") }),
		"zip64 more entries": newZip(a()).but(but64(func(r []byte) { r[24], r[32] = 2, 2 })),
		"zip64 negative":     newZip(a()).but(but64(func(r []byte) { r[31], r[39] = 0x80, 0x80 })),
		"zip64 huge offset":  newZip(a()).but(but64(func(r []byte) { r[55] = 0x7f })),
		"zip64 huge size":    newZip(a()).but(but64(func(r []byte) { r[47] = 0x7f })),
		"zip64 extended":     newZip(a()).but(but64(func(r []byte) { r[4]++ })),
		"zip64 elsewhere":    newZip(a()).but(but64(func(r []byte) { r[64]-- })),
		"zip64 volumes":      newZip(a()).but(but64(func(r []byte) { r[72] = 2 })),
		"two ends":           newZip(a()).but(func(z *rawZip) { z.middle = append([]byte("PK\x05\x06"), bytes.Repeat([]byte{0}, 18)...) }),
	})
}

// TestZipEntriesRefused checks archives with an invalid entry.
func TestZipEntriesRefused(t *testing.T) {
	t.Parallel()
	a := func() *zipRaw { return rawFile("a", "text") }
	wantZipsRefused(t, map[string]*rawZip{
		"dir by name":         newZip(rawStored("d/", "").but(func(e *zipRaw) { e.attributes = 0o100644 << 16 }), a()),
		"link by name":        newZip(rawStored("d/", "").but(func(e *zipRaw) { e.attributes = 0o120644 << 16 }), a()),
		"link by windows":     newZip(rawLink("l", "a").but(func(e *zipRaw) { e.system = 0 }), a()),
		"dir with content":    newZip(rawDir("d").but(func(e *zipRaw) { *e = *rawStored("d/", "x"); e.attributes = 0o40755 << 16 }), a()),
		"data behind deflate": newZip(a().but(func(e *zipRaw) { e.data = append(e.data, 0); e.both(func(h *zipRawHeader) { h.packed++ }) })),
		"deflate cut off":     newZip(a().but(func(e *zipRaw) { e.data = e.data[1:]; e.both(func(h *zipRawHeader) { h.packed-- }) })),
		"descriptor unasked":  newZip(described(a(), true).but(func(e *zipRaw) { e.both(func(h *zipRawHeader) { h.flags = 0 }) })),
		"descriptor missing":  newZip(described(a(), true).but(func(e *zipRaw) { e.descriptor = nil })),
		"descriptor lies":     newZip(described(a(), true).but(func(e *zipRaw) { e.descriptor[5]++ })),
		"wide without marker": newZip(wide(a(), true).but(func(e *zipRaw) { e.central.size = 4 })),
		"marker without wide": newZip(a().but(func(e *zipRaw) { e.local.size = 1<<32 - 1 })),
		"wide lies":           newZip(wide(a(), true).but(func(e *zipRaw) { e.local.extra[4]++ })),
		"wide lies twice":     newZip(wide(a(), true).but(func(e *zipRaw) { e.local.extra[4]++; e.central.extra[4]++ })),
		"wide negative":       newZip(wide(a(), true).but(func(e *zipRaw) { e.local.extra[11], e.central.extra[11] = 0x80, 0x80 })),
		"wide and known lies": newZip(wideAndKnown(a()).but(func(e *zipRaw) { e.local.extra[4]++ })),
		"wide twice":          newZip(wide(wide(a(), true), true)),
		"wide descriptor":     newZip(wideDescribed(a()).but(func(e *zipRaw) { e.descriptor[10]++ })),
		"short descriptor":    newZip(wide(described(a(), true), false)),
		"descriptor of 64":    newZip(described(a(), true).but(func(e *zipRaw) { e.descriptor = append(e.descriptor, make([]byte, 8)...) })),
	})
}

// rawZip is a zip archive of which every part can be made invalid. newZip returns a valid
// one, which tests then change.
type rawZip struct {
	entries []*zipRaw
	middle  []byte // before the central directory
	between []byte // before the end record
	comment []byte
	// end, if not nil, changes the end record, and end64 the record of 64 bits, which is written if wide is set.
	end, end64 func(record []byte)
	wide       bool
}

// zipRawHeader has the fields that the local and the central header of an entry share.
type zipRawHeader struct {
	name          string
	flags, method uint16
	crc           uint32
	packed, size  uint32
	extra         []byte
}

type zipRaw struct {
	local, central zipRawHeader
	data           []byte
	descriptor     []byte
	gap            []byte // after the descriptor
	system         byte
	attributes     uint32
	shift          int // added to the offset in the central directory
	hidden         bool
}

// rawFile returns a deflated file as Unix tools write it.
func rawFile(name, text string) *zipRaw {
	data := deflate([]byte(text))
	header := zipRawHeader{name: name, method: 8, crc: crc32.ChecksumIEEE([]byte(text)), size: uint32(len(text)), packed: uint32(len(data))}
	return &zipRaw{local: header, central: header, data: data, system: 3, attributes: 0o100644 << 16}
}

// rawStored returns a file without compression.
func rawStored(name, text string) *zipRaw {
	e := rawFile(name, text)
	e.data = []byte(text)
	e.both(func(h *zipRawHeader) { h.method, h.packed = 0, h.size })
	return e
}

func rawDir(name string) *zipRaw {
	e := rawStored(name+"/", "")
	e.attributes = 0o40755 << 16
	return e
}

func rawLink(name, target string) *zipRaw {
	e := rawStored(name, target)
	e.attributes = 0o120777 << 16
	return e
}

// described changes an entry so that its sizes follow its content, with or without a
// signature.
func described(e *zipRaw, signature bool) *zipRaw {
	if signature {
		e.descriptor = []byte("PK\x07\x08")
	}
	for _, v := range []uint32{e.central.crc, e.central.packed, e.central.size} {
		e.descriptor = binary.LittleEndian.AppendUint32(e.descriptor, v)
	}
	e.both(func(h *zipRawHeader) { h.flags |= 8 })
	e.local.crc, e.local.packed, e.local.size = 0, 0, 0
	return e
}

func (e *zipRaw) both(change func(*zipRawHeader)) *zipRaw {
	change(&e.local)
	change(&e.central)
	return e
}

func (e *zipRaw) but(change func(*zipRaw)) *zipRaw {
	change(e)
	return e
}

func deflate(text []byte) []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression)
	_, _ = w.Write(text)
	_ = w.Close()
	return out.Bytes()
}

func newZip(entries ...*zipRaw) *rawZip { return &rawZip{entries: entries} }

func (z *rawZip) but(change func(*rawZip)) *rawZip {
	change(z)
	return z
}

func (z *rawZip) bytes() []byte {
	le := binary.LittleEndian
	var out, directory []byte
	count := 0
	for _, e := range z.entries {
		offset := uint32(len(out) + e.shift)
		out = append(out, e.local.encode([]byte("PK\x03\x04\x14\x00"), nil)...)
		out = append(append(append(out, e.data...), e.descriptor...), e.gap...)
		if e.hidden {
			continue
		}
		count++
		tail := make([]byte, 14)
		le.PutUint32(tail[6:], e.attributes)
		le.PutUint32(tail[10:], offset)
		directory = append(directory, e.central.encode([]byte{'P', 'K', 1, 2, 20, e.system, 20, 0}, tail)...)
	}
	out = append(out, z.middle...)
	end := make([]byte, 22)
	copy(end, "PK\x05\x06")
	le.PutUint16(end[8:], uint16(count))
	le.PutUint16(end[10:], uint16(count))
	le.PutUint32(end[12:], uint32(len(directory)))
	le.PutUint32(end[16:], uint32(len(out)))
	le.PutUint16(end[20:], uint16(len(z.comment)))
	if z.end != nil {
		z.end(end)
	}
	var end64 []byte
	if z.wide {
		end64 = append([]byte("PK\x06\x06"), 44, 0, 0, 0, 0, 0, 0, 0, 45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		for _, v := range []int{count, count, len(directory), len(out)} {
			end64 = le.AppendUint64(end64, uint64(v))
		}
		end64 = append(end64, "PK\x06\x07\x00\x00\x00\x00"...)
		end64 = le.AppendUint64(end64, uint64(len(out)+len(directory)))
		end64 = append(end64, 1, 0, 0, 0)
		if z.end64 != nil {
			z.end64(end64)
		}
	}
	out = append(append(append(append(out, directory...), z.between...), end64...), end...)
	return append(out, z.comment...)
}

// encode returns a header that begins with start and has tail between the lengths and the
// name.
func (h zipRawHeader) encode(start, tail []byte) []byte {
	le := binary.LittleEndian
	out := le.AppendUint16(start, h.flags)
	out = le.AppendUint16(out, h.method)
	out = append(out, 0, 0, 0x21, 0x5c) // time and date
	for _, v := range []uint32{h.crc, h.packed, h.size} {
		out = le.AppendUint32(out, v)
	}
	out = le.AppendUint16(out, uint16(len(h.name)))
	out = le.AppendUint16(out, uint16(len(h.extra)))
	out = append(out, tail...)
	return append(append(out, h.name...), h.extra...)
}
