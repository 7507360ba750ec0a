package getmodules_test

import (
	"archive/tar"
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

func TestTarBzip2(t *testing.T) {
	t.Parallel()
	got, _, err := extract(t, "", tarBzip2(t), getmodules.Limits{})
	if diff := cmp.Diff(map[string]string{"main.tf": "x", "l": "link:main.tf"}, got); err != nil || diff != "" {
		t.Errorf("error %v, tree differs (-want +got):\n%s", err, diff)
	}
}
