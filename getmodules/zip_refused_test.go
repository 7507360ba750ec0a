package getmodules_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

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

// TestZipLayoutRefused checks archives whose parts are in the wrong place.
func TestZipLayoutRefused(t *testing.T) {
	t.Parallel()
	a := func() *zipRaw { return rawFile("a", "text") }
	end := func(change func([]byte)) *rawZip {
		return newZip(a()).but(func(z *rawZip) { z.end = change })
	}
	wantZipsRefused(t, map[string]*rawZip{
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
		"zip64 locator":       newZip(a()).but(func(z *rawZip) { z.between = append([]byte("PK\x06\x07"), make([]byte, 16)...) }),
		"two ends":            newZip(a()).but(func(z *rawZip) { z.middle = append([]byte("PK\x05\x06"), bytes.Repeat([]byte{0}, 18)...) }),
	})
}

// TestZipEntriesRefused checks archives with an invalid entry.
func TestZipEntriesRefused(t *testing.T) {
	t.Parallel()
	a := func() *zipRaw { return rawFile("a", "text") }
	mode := func(m uint32) *zipRaw { return a().but(func(e *zipRaw) { e.attributes = m << 16 }) }
	extra := func(id uint16, body string) *zipRaw {
		field := binary.LittleEndian.AppendUint16(nil, id)
		field = append(binary.LittleEndian.AppendUint16(field, uint16(len(body))), body...)
		return a().both(func(h *zipRawHeader) { h.extra = field })
	}
	wantZipsRefused(t, map[string]*rawZip{
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
		"descriptor unasked":  newZip(described(a(), true).but(func(e *zipRaw) { e.both(func(h *zipRawHeader) { h.flags = 0 }) })),
		"descriptor missing":  newZip(described(a(), true).but(func(e *zipRaw) { e.descriptor = nil })),
		"descriptor lies":     newZip(described(a(), true).but(func(e *zipRaw) { e.descriptor[5]++ })),
		"descriptor of 64":    newZip(described(a(), true).but(func(e *zipRaw) { e.descriptor = append(e.descriptor, make([]byte, 8)...) })),
	})
}
