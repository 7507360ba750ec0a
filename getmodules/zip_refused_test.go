package getmodules_test

import (
	"bytes"
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

// TestZipLayoutRefused checks archives whose parts are in the wrong place. Package internal/hostile has more
// archives, and all names, links and modes.
func TestZipLayoutRefused(t *testing.T) {
	t.Parallel()
	a := func() *zipRaw { return rawFile("a", "text") }
	end := func(change func([]byte)) *rawZip {
		return newZip(a()).but(func(z *rawZip) { z.end = change })
	}
	wantZipsRefused(t, map[string]*rawZip{
		"zip as comment":     newZip(a()).but(func(z *rawZip) { z.comment = newZip(rawFile("b", "")).bytes() }),
		"end in comment":     newZip(a()).but(func(z *rawZip) { z.comment = []byte("PK\x05\x06 and more than twenty-two bytes") }),
		"gap before end":     newZip(a()).but(func(z *rawZip) { z.between = []byte("gap") }),
		"gap between":        newZip(a().but(func(e *zipRaw) { e.gap = []byte("gap") }), rawFile("b", "")),
		"hidden entry":       newZip(a(), rawFile("b", "").but(func(e *zipRaw) { e.hidden = true })),
		"same place":         newZip(a(), a().but(func(e *zipRaw) { e.central.name, e.shift = "b", -36-len(e.data)+5 })),
		"file and dir":       newZip(a(), rawDir("a")),
		"dir twice":          newZip(rawDir("a"), rawDir("a"), rawFile("a/b", "")),
		"by dot slash twice": newZip(a(), rawFile("./a", "")),
		"more entries":       end(func(r []byte) { r[8], r[10] = 2, 2 }),
		"fewer entries":      end(func(r []byte) { r[8], r[10] = 0, 0 }),
		"zip64 locator":      newZip(a()).but(func(z *rawZip) { z.between = append([]byte("PK\x06\x07"), make([]byte, 16)...) }),
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
		"descriptor of 64":    newZip(described(a(), true).but(func(e *zipRaw) { e.descriptor = append(e.descriptor, make([]byte, 8)...) })),
	})
}
