package providerzip_test

import (
	"bytes"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/testenv"
)

// Names that some systems cannot store get one warning, as those of module packages do.
func TestWarnings(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("this system refuses such names")
	}
	for name, test := range map[string]struct {
		names []string
		want  string // a part of the only warning, or ""
	}{
		"ordinary":        {[]string{"LICENSE", "docs/readme"}, ""},
		"a device":        {[]string{"con"}, `"con": the name is that of a device on Windows`},
		"a device below":  {[]string{"docs/NUL.txt"}, `"docs/NUL.txt": the name is that of a device`},
		"a stream":        {[]string{"a:b"}, `"a:b": the name holds one of`},
		"a drive":         {[]string{"C:e"}, `"C:e": the name holds one of`},
		"case":            {[]string{"LICENSE", "license"}, `differs from "LICENSE" only in case`},
		"normal form":     {[]string{"e\u0301", "\u00e9"}, "Unicode normalization"},
		"several of them": {[]string{"a:b", "con", "nul", "x/LICENSE", "x/license"}, "(and 3 more names like this)"},
	} {
		var entries []entry
		for _, name := range test.names {
			entries = append(entries, entry{name: name, content: name})
		}
		raw := archive(t, entries...)
		a, err := providerzip.Open(bytes.NewReader(raw), int64(len(raw)), "x")
		testenv.Must(t, err)
		if _, err := a.Unpack(t.Context(), filepath.Join(t.TempDir(), "package")); err != nil {
			if runtime.GOOS == "darwin" && strings.Contains(test.want, "differ") {
				continue // the file system may not be able to store both
			}
			t.Fatalf("%s: %v", name, err)
		}
		got := a.Warnings()
		if test.want == "" && len(got) == 0 {
			continue
		}
		if len(got) != 1 || test.want == "" || !strings.Contains(got[0], test.want) {
			t.Errorf("%s: warnings are %q, want one with %q", name, got, test.want)
		}
	}
}
