package getmodules_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
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
		"ends in zeros": {tarOf(t, tarFile("a", strings.Repeat("\x00", 2048))), map[string]string{"a": strings.Repeat("\x00", 2048)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := extract(t, "", gzipped(test.archive), getmodules.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("tree differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTarTypes tries each of the 256 entry types that a header can have.
func TestTarTypes(t *testing.T) {
	t.Parallel()
	for flag := range 256 {
		archive := tarEnd(tarBlocks('0', "a", "", 0, ""), tarBlocks(byte(flag), "x", "a", 0, ""))
		_, _, err := extract(t, "tar.gz", gzipped(archive), getmodules.Limits{})
		switch flag {
		case 0, '0', '2', '5': // file, file, symbolic link, directory
			if err != nil {
				t.Errorf("type %d: %v", flag, err)
			}
		case 'g': // an empty global header, which has no effect
		default:
			wantRefused(t, fmt.Sprintf("type %d", flag), err)
		}
		if flag == 0 || flag == '0' || flag == 'g' {
			continue
		}
		archive = tarEnd(tarBlocks('0', "a", "", 0, ""), tarBlocks(byte(flag), "x", "a", 5, "12345"))
		_, _, err = extract(t, "tar.gz", gzipped(archive), getmodules.Limits{})
		wantRefused(t, fmt.Sprintf("type %d with content", flag), err)
	}
}

func TestTarRefused(t *testing.T) {
	t.Parallel()
	a := tarBlocks('0', "a", "", 1, "1")
	long := strings.Repeat("x", 200)
	var globals [][]byte
	for range 17 {
		globals = append(globals, tarPAX('g', "comment=x"))
	}
	tests := map[string][]byte{
		"nothing":           make([]byte, 1024),
		"only directories":  tarEnd(tarBlocks('5', "d", "", 0, "")),
		"no end":            a,
		"one empty block":   append(slices.Clone(a), make([]byte, 512)...),
		"no end, all zeros": tarBlocks('0', "a", "", 2048, strings.Repeat("\x00", 2048)),
		"block after end":   tarEnd(a, make([]byte, 1024), tarBlocks('0', "b", "", 0, "")),
		"byte after end":    append(tarEnd(a), 'x'),
		"late byte":         append(append(tarEnd(a), make([]byte, 70000)...), 'x'),
		"one zero block":    tarEnd(a, make([]byte, 512), tarBlocks('0', "b", "", 0, "")),
		"twice":             tarEnd(a, a),
		"header sum":        tarEnd(bytes.Replace(a, []byte("0000644"), []byte("0000744"), 1)),
		"content missing":   tarBlocks('0', "a", "", 5000, ""),
		"negative size":     tarEnd(tarBlocks('0', "a", "", -1, "")),
		"pax size":          tarEnd(tarPAX('x', "size=512"), tarBlocks('0', "a", "", 0, ""), tarBlocks('0', "b", "", 0, "")),
		"global path":       tarEnd(tarPAX('g', "path=b"), a),
		"global link":       tarEnd(tarPAX('g', "linkpath=b"), a),
		"global size":       tarEnd(tarPAX('g', "size=0"), a),
		"global sparse":     tarEnd(tarPAX('g', "GNU.sparse.major=1"), a),
		"many globals":      tarEnd(append(globals, a)...),
		"sparse 0.0":        tarEnd(tarPAX('x', "GNU.sparse.size=1", "GNU.sparse.numblocks=0"), a),
		"sparse 0.1":        tarEnd(tarPAX('x', "GNU.sparse.size=1", "GNU.sparse.map=0,1"), a),
		"sparse 1.0":        tarEnd(tarPAX('x', "GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.realsize=1"), tarBlocks('0', "a", "", 512, "0\n")),
		"sparse name":       tarEnd(tarPAX('x', "GNU.sparse.name=b"), a),
		"character set":     tarEnd(tarPAX('x', "hdrcharset=BINARY"), a),
		"unknown record":    tarEnd(tarPAX('x', "realpath=b"), a),
		"malformed record":  tarEnd(tarBlocks('x', "pax", "", 9, "99 path=b\n"), a),
		"two names":         tarEnd(tarPAX('x', "path=b"), tarBlocks('L', "long", "", 200, long), a),
		"two targets":       tarEnd(a, tarPAX('x', "linkpath=a"), tarBlocks('K', "long", "", 200, long), tarBlocks('2', "l", "a", 0, "")),
		"long name of 2 MB": tarEnd(tarBlocks('L', "long", "", 2<<20, strings.Repeat("x", 2<<20)), a),
		"pax of 2 MB":       tarEnd(tarPAX('x', "comment="+strings.Repeat("x", 2<<20)), a),
		"hard link":         tarEnd(a, tarBlocks('1', "l", "a", 0, "")),
		"hard link outside": tarEnd(a, tarBlocks('1', "l", "/etc/passwd", 0, "")),
		"header of nothing": tarEnd(a, tarPAX('x', "path=b")),
		"root as file":      tarEnd(tarBlocks('0', ".", "", 0, ""), a),
		"dot slash as link": tarEnd(a, tarBlocks('2', "./", "a", 0, "")),
	}
	for name, archive := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := extract(t, "tar.gz", gzipped(archive), getmodules.Limits{})
			wantRefused(t, name, err)
		})
	}
}

func TestGzipRefused(t *testing.T) {
	t.Parallel()
	plain := tarOf(t, tarFile("a", "1"), tarFile("b", strings.Repeat("text", 300)))
	good := gzipped(plain)
	flipped := slices.Clone(good)
	flipped[len(flipped)-6] ^= 1 // a byte of the checksum
	tests := map[string][]byte{
		"trailing byte":   append(slices.Clone(good), 0),
		"trailing member": append(slices.Clone(good), gzipped(nil)...),
		"two members":     append(gzipped(plain[:512]), gzipped(plain[512:])...),
		"two archives":    append(slices.Clone(good), good...),
		"checksum":        flipped,
		"gzip in gzip":    gzipped(good),
		"not tar":         gzipped([]byte("text")),
		"zip in gzip":     gzipped(newZip(rawFile("a", "1")).bytes()),
		"empty":           gzipped(nil),
	}
	for name, archive := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := extract(t, "tar.gz", archive, getmodules.Limits{})
			wantRefused(t, name, err)
		})
	}
}

func TestTarBzip2(t *testing.T) {
	t.Parallel()
	got, _, err := extract(t, "", tarBzip2(t), getmodules.Limits{})
	if diff := cmp.Diff(map[string]string{"main.tf": "x", "l": "link:main.tf"}, got); err != nil || diff != "" {
		t.Errorf("error %v, tree differs (-want +got):\n%s", err, diff)
	}
}
