package addrs_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
)

// describe returns a result as one line: the kind, the Source string as in modules.json, and for
// a remote source also the package and the subdirectory.
func describe(src addrs.ModuleSource, err error) string {
	var parseError *addrs.ParseError
	switch {
	case errors.Is(err, addrs.ErrOutsidePackage):
		return "error: outside"
	case errors.As(err, &parseError) && parseError.MaybeLocal:
		return "error: maybe local"
	case err != nil:
		return "error"
	}
	switch src := src.(type) {
	case addrs.ModuleSourceLocal:
		return "L " + src.String()
	case addrs.ModuleSourceRegistry:
		return "R " + src.String()
	case addrs.ModuleSourceRemote:
		if src.Subdir == "" {
			return "P " + src.Package.String()
		}
		return "P " + src.Package.String() + " ; " + src.Subdir
	}
	return "nothing"
}

func TestSources(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for _, test := range slices.Concat(localCases, registryCases, hostCases, forgeCases, urlCases, bucketCases, stricterCases) {
		seen[test.row] = true
		if runtime.GOOS == "windows" && test.row > 0 {
			continue // the table is that of a system where absolute paths begin with a slash
		}
		src, err := addrs.ParseModuleSource(test.input)
		if got := describe(src, err); got != test.want {
			t.Errorf("ParseModuleSource(%q) = %s, want %s (row %d)", test.input, got, test.want, test.row)
		}
		if _, isParseError := errors.AsType[*addrs.ParseError](err); err != nil && (src != nil || !isParseError) {
			t.Errorf("ParseModuleSource(%q) = %#v, %v, want a *ParseError", test.input, src, err)
		}
		want, isRemote := src.(addrs.ModuleSourceRemote)
		got, err := addrs.ParseModuleSourceRemote(test.input)
		_, isParseError := errors.AsType[*addrs.ParseError](err)
		if isRemote && got != want || !isRemote && !isParseError && !strings.Contains(test.input, ":") {
			t.Errorf("ParseModuleSourceRemote(%q) = %v, %v, want %v", test.input, got, err, want)
		}
	}
	for row := range 121 {
		if !seen[row] {
			t.Errorf("row %d has no case", row)
		}
	}
}

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
		testenv.Must(t, err)
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
