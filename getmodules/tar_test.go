package getmodules_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestTarAccepted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("directory/", 30) + "f"
	comment := tarRaw{tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": strings.Repeat("a", 40)}}, ""}
	fractions := tarFile("a", "1")
	fractions.Format, fractions.ModTime = tar.FormatPAX, time.Unix(1, 5)
	vendor := tarFile("a", "1")
	vendor.PAXRecords = map[string]string{"SCHILY.xattr.user.x": "1", "LIBARCHIVE.creationtime": "1"}
	gnu := tarFile(long, "1")
	gnu.Format = tar.FormatGNU
	mode := tarFile("a", "1")
	mode.Mode = 0o6755
	below := func(text string) map[string]string {
		want := map[string]string{long: text}
		for i := 9; i < len(long)-1; i += 10 {
			want[long[:i]] = "dir"
		}
		return want
	}
	tests := map[string]struct {
		archive []byte
		want    map[string]string
	}{
		"files":         {tarOf(t, tarFile("a", "1"), tarFile("b", "")), map[string]string{"a": "1", "b": ""}},
		"by tar -C .":   {tarOf(t, tarDir("."), tarFile("./a", "1"), tarDir("./d")), map[string]string{"a": "1", "d": "dir"}},
		"link":          {tarOf(t, tarLink("d/l", "../a"), tarFile("a", "1")), map[string]string{"d": "dir", "d/l": "link:../a", "a": "1"}},
		"dir twice":     {tarOf(t, tarDir("d"), tarFile("d/a", "1"), tarDir("d")), map[string]string{"d": "dir", "d/a": "1"}},
		"by git":        {tarOf(t, comment, tarFile("a", "1")), map[string]string{"a": "1"}},
		"pax times":     {tarOf(t, fractions), map[string]string{"a": "1"}},
		"pax vendors":   {tarOf(t, vendor), map[string]string{"a": "1"}},
		"pax long name": {tarOf(t, tarFile(long, "1")), below("1")},
		"gnu long name": {tarOf(t, gnu), below("1")},
		"unicode":       {tarOf(t, tarFile("é", "1")), map[string]string{"é": "1"}},
		"setuid":        {tarOf(t, mode), map[string]string{"a": "exec:1"}},
		"old file":      {tarEnd(tarBlocks(0, "a", "", 1, "1")), map[string]string{"a": "1"}},
		"by hand":       {tarEnd(tarBlocks('0', "a", "", 1, "1"), tarBlocks('5', "d", "", 0, "")), map[string]string{"a": "1", "d": "dir"}},
		"more zeros":    {append(tarOf(t, tarFile("a", "1")), make([]byte, 10240)...), map[string]string{"a": "1"}},
		"hard links": {
			tarOf(t, tarFile("d/a", "1"), tarHardLink("b", "d/a"), tarHardLink("./d/c", "./d/a"), tarHardLink("e", "b")),
			map[string]string{"d": "dir", "d/a": "1", "b": "1", "d/c": "1", "e": "1"},
		},
		"hard link to a program": {tarOf(t, mode, tarHardLink("b", "a")), map[string]string{"a": "exec:1", "b": "exec:1"}},
		"ends in zeros":          {tarOf(t, tarFile("a", strings.Repeat("\x00", 2048))), map[string]string{"a": strings.Repeat("\x00", 2048)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := extract(t, "", gzipped(test.archive), getmodules.Limits{})
			testenv.Must(t, err)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("tree differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTarHardLinks refuses hard links to anything but an earlier file. A link to a file counts as a copy.
func TestTarHardLinks(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("\x00", 1<<20)
	var copies []tarRaw
	for i := range 100 {
		copies = append(copies, tarHardLink(fmt.Sprint("b", i), "a"))
	}
	for name, test := range map[string]struct {
		archive []byte
		limits  getmodules.Limits
		want    error
	}{
		"to a later file":          {tarOf(t, tarHardLink("b", "a"), tarFile("a", "1")), getmodules.Limits{}, getmodules.ErrUnsafeEntry},
		"to itself":                {tarOf(t, tarFile("x", "1"), tarHardLink("a", "a")), getmodules.Limits{}, getmodules.ErrUnsafeEntry},
		"to a directory":           {tarOf(t, tarFile("d/a", "1"), tarHardLink("b", "d")), getmodules.Limits{}, getmodules.ErrUnsafeEntry},
		"to a symbolic link":       {tarOf(t, tarFile("a", "1"), tarLink("l", "a"), tarHardLink("b", "l")), getmodules.Limits{}, getmodules.ErrUnsafeEntry},
		"through a link":           {tarOf(t, tarFile("d/a", "1"), tarLink("l", "d"), tarHardLink("b", "l/a")), getmodules.Limits{}, getmodules.ErrUnsafeEntry},
		"out of the package":       {tarOf(t, tarFile("a", "1"), tarHardLink("b", "../a")), getmodules.Limits{}, getmodules.ErrUnsafeEntry},
		"to a file of the machine": {tarOf(t, tarFile("a", "1"), tarHardLink("b", "/etc/passwd")), getmodules.Limits{}, getmodules.ErrUnsafeEntry},
		"in the place of a file":   {tarOf(t, tarFile("a", "1"), tarFile("b", "2"), tarHardLink("b", "a")), getmodules.Limits{}, getmodules.ErrUnsafeEntry},
		"with content":             {tarEnd(tarBlocks('0', "a", "", 1, "1"), tarBlocks('1', "b", "a", 1, "2")), getmodules.Limits{}, getmodules.ErrUnsafeArchive},
		"more bytes":               {tarOf(t, tarFile("a", "1234567890"), tarHardLink("b", "a")), getmodules.Limits{TreeBytes: 19}, getmodules.ErrTooLarge},
		"more entries":             {tarOf(t, tarFile("a", "1"), tarHardLink("b", "a")), getmodules.Limits{Entries: 1}, getmodules.ErrTooLarge},
		"fits":                     {tarOf(t, tarFile("a", "1234567890"), tarHardLink("b", "a")), getmodules.Limits{TreeBytes: 20, Entries: 2}, nil},
		"more than its size":       {tarOf(t, append([]tarRaw{tarFile("a", big)}, copies...)...), getmodules.Limits{}, getmodules.ErrTooLarge},
	} {
		if _, _, err := extract(t, "", gzipped(test.archive), test.limits); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

func TestTarBzip2(t *testing.T) {
	t.Parallel()
	got, _, err := extract(t, "", tarBzip2(t), getmodules.Limits{})
	if diff := cmp.Diff(map[string]string{"main.tf": "x", "l": "link:main.tf"}, got); err != nil || diff != "" {
		t.Errorf("error %v, tree differs (-want +got):\n%s", err, diff)
	}
}

// tarOf returns a complete tar file written by archive/tar.
func tarOf(t testing.TB, headers ...tarRaw) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		h.Size = int64(len(h.text))
		if err := w.WriteHeader(&h.Header); err != nil {
			t.Fatalf("header %q: %v", h.Name, err)
		}
		if _, err := w.Write([]byte(h.text)); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Must(t, w.Close())
	return out.Bytes()
}

type tarRaw struct {
	tar.Header
	text string
}

func tarFile(name, text string) tarRaw {
	return tarRaw{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, text}
}

func tarDir(name string) tarRaw {
	return tarRaw{tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}, ""}
}

func tarLink(name, target string) tarRaw {
	return tarRaw{tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777}, ""}
}

func tarHardLink(name, of string) tarRaw {
	return tarRaw{tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: of, Mode: 0o644}, ""}
}

// tarBlocks returns one handmade entry, which may be invalid: a ustar header with any type
// and size, and a body padded to whole blocks.
func tarBlocks(flag byte, name, link string, size int, body string) []byte {
	block := make([]byte, 512)
	copy(block, name)
	copy(block[100:], "0000644\x00")
	copy(block[108:], "0000000\x000000000\x00")
	copy(block[124:], fmt.Sprintf("%011o\x00", size))
	copy(block[136:], "00000000000\x00")
	block[156] = flag
	copy(block[157:], link)
	copy(block[257:], "ustar\x0000")
	sum := 8 * int(' ')
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	block = append(block, body...)
	return append(block, make([]byte, (512-len(block)%512)%512)...)
}

// tarPAX returns an extended header (flag 'x') or a global one (flag 'g').
func tarPAX(flag byte, records ...string) []byte {
	body := ""
	for _, record := range records {
		size := len(record) + 3
		for size != len(fmt.Sprintf("%d %s\n", size, record)) {
			size = len(fmt.Sprintf("%d %s\n", size, record))
		}
		body += fmt.Sprintf("%d %s\n", size, record)
	}
	return tarBlocks(flag, "pax", "", len(body), body)
}

// tarEnd joins handmade entries and appends the end of the tar file.
func tarEnd(parts ...[]byte) []byte {
	return append(bytes.Join(parts, nil), make([]byte, 1024)...)
}

func gzipped(plain []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(plain)
	_ = w.Close()
	return out.Bytes()
}

// tarBzip2 returns a tar.bz2 file, which Go cannot write. It contains "main.tf" with the
// text "x", and "l", a link to main.tf.
func tarBzip2(t testing.TB) []byte {
	t.Helper()
	archive, err := base64.StdEncoding.DecodeString(tarBzip2Text)
	testenv.Must(t, err)
	return archive
}

const tarBzip2Text = "QlpoOTFBWSZTWeXODa0AAJ77lMmAAEBAAX2AACDhJ55ABAABAAAIIAB1CUJAAaNMhoAKpEmJkGQ00Gmyn08PONtUCW87wRl3tdpzM+myTFxMJIgMCKJM0cIIRlSQFBKCCl5GyT1cy1s8ZCbU+LK37ND8XM2SjgUbqa16og/i7kinChIcucG1oA=="
