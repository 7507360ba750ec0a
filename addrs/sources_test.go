package addrs_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

type storedSource struct {
	file, input     string
	fails           bool
	pkg, wantSubdir string
}

// storedSources reads the files in testdata/sources. Their comments explain the format.
func storedSources(t testing.TB) []storedSource {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "testdata", "sources", "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no source lists: %v", err)
	}
	var all []storedSource
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			fields := strings.Split(line, "\t")
			stored := storedSource{file: filepath.Base(name), input: fields[0]}
			switch {
			case len(fields) == 2 && fields[1] == "error", len(fields) == 4 && fields[3] == "refused":
				stored.fails = true
			case len(fields) == 3:
				stored.pkg, stored.wantSubdir = fields[1], fields[2]
			default:
				t.Fatalf("%s: malformed line %q", name, line)
			}
			all = append(all, stored)
		}
	}
	return all
}

func TestStoredSources(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the lists are those of a system where absolute paths begin with a slash")
	}
	for _, stored := range storedSources(t) {
		src, err := addrs.ParseModuleSource(stored.input)
		if stored.fails {
			if err == nil {
				t.Errorf("%s: ParseModuleSource(%q) = %#v, want an error", stored.file, stored.input, src)
			}
			continue
		}
		want := addrs.ModuleSourceRemote{Package: addrs.ParseModulePackage(stored.pkg), Subdir: stored.wantSubdir}
		if err != nil || src != addrs.ModuleSource(want) {
			t.Errorf("%s: ParseModuleSource(%q) = %#v, %v, want %#v", stored.file, stored.input, src, err, want)
		}
	}
}
