package pathsafe_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

func TestName(t *testing.T) {
	t.Parallel()
	tests := map[string]string{ // reasons, or parts of them
		"main.tf": "", "a/b/c": "", ".gitignore": "", "...": "", "a b": "", "naïve.tf": "", "CON": "", "a:b": "", "a.": "",
		strings.Repeat("n", 255): "", strings.Repeat("d/", 63) + "f": "",
		"": "empty component", "/a": "absolute", "a//b": "empty component", "a/": "empty component", ".": `"."`, "a/../b": `".."`,
		`run-x\x2dy.mount`: "", "Icon\r": "", "a\tb": "", "caf\xe9": "", "\u202ea": "", "\ufeffa": "", "--help": "", "C:\\x": "",
		"a\nb": "newline", "a\x00": "NUL",
		`\a`: "empty component", `a\\b`: "empty component", `a\`: "empty component", `..\a`: `".."`, `a\..\b`: `".."`, `a\.\b`: `"."`,
		`a\.git\config`: "version control", `.GIT\x`: "version control", `a/git~1\x`: "version control", `x\.g` + "\u200cit": "version control",
		strings.Repeat("n", 256): "more than 255 bytes", strings.Repeat("d/", 64) + "f": "deeper than 64", strings.Repeat("abc/", 256) + "f": "longer than 1024",
		".git": "version control", "a/.GIT/x": "version control", "git~1": "version control", ".hg .": "version control", ".\u017fvn": "version control",
	}
	for name, want := range tests {
		if got := pathsafe.Name(name); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("Name(%q) = %q, want %q", name, got, want)
		}
	}
}

// What Name refuses is refused for providers too, and what is not plain text.
func TestProviderName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"main.tf": "", "naïve": "", "a:b": "", "a b": "", "CON": "",
		".git/x": "version control", "../a": `".."`, `a\b`: "backslash", `..\a`: "backslash", "a\nb": "control character U+000A", "a\tb": "control character U+0009",
		"a\u0085": "control character U+0085", "a\xff": "UTF-8", "\u202ea": "U+202E", "\ufeffa": "U+FEFF", "a\u2028": "U+2028",
	} {
		if got := pathsafe.ProviderName(name); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("ProviderName(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestIsVersionControl compares with full case folding and normalization: each rune that they map
// to an ASCII letter must be treated like that letter.
func TestIsVersionControl(t *testing.T) {
	t.Parallel()
	folding := cases.Fold()
	for r := rune(0x80); r <= utf8.MaxRune; r++ {
		folded := norm.NFC.String(folding.String(norm.NFD.String(string(r))))
		if len(folded) != 1 {
			continue
		}
		for _, name := range []string{".git", ".hg", ".svn", ".bzr", "git~1"} {
			spelling := strings.ReplaceAll(name, folded, string(r))
			if !pathsafe.IsVersionControl(spelling) {
				t.Errorf("%+q is not recognized", spelling)
			}
		}
	}
	for _, name := range []string{".gitignore", ".gitx", "git", "git~2", "x.git", ".github", "hg", ""} {
		if pathsafe.IsVersionControl(name) {
			t.Errorf("%q is refused", name)
		}
	}
}

// The first value says whether there is a warning, and the second whether Windows refuses the name.
func TestUnusual(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]bool{
		"main.tf": {}, "é\U0001f600": {}, "--help": {}, ".a": {},
		"a\x7f": {true, false}, "a\u0085": {true, false}, "\u202ea": {true, false}, "\u200fa": {true, false}, "\ufeffa": {true, false},
		"a\tb": {true, true}, "Icon\r": {true, true}, `x\y`: {true, true}, "\xe9": {true, true}, "\u202ea:": {true, true}, "a\u202e\x01": {true, true},
	} {
		reason, portable := pathsafe.Unusual(name)
		if got := [2]bool{reason != "", !portable}; got != want {
			t.Errorf("Unusual(%q) = %q, %v, want %v", name, reason, portable, want)
		}
	}
}

func TestUnportable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": false, "com": false, "COM10": false, "console": false, "a.con": false,
		"a:b": true, `a\b`: true, "a\x1f": true, "\xff": true, "\x7f": false, "\u202e": false, "a.": true, "a ": true, "con": true, "Con.tf": true, "NUL .x": true, "COM¹": true, "lpt9.a.b": true, "CONIN$": true,
	} {
		if got := pathsafe.Unportable(name) != ""; got != want {
			t.Errorf("Unportable(%q) = %v, want %v", name, got, want)
		}
	}
}

// FuzzName checks that accepted names are harmless and that the less strict rules accept them as
// well.
func FuzzName(f *testing.F) {
	for _, name := range []string{"main.tf", "a/../b", ".git/x", "a\x00", "\u202e", "git~1", "a//b", `C:\x`, `a\.git`, "caf\xe9", "Icon\r"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if pathsafe.Name(name) != "" {
			return
		}
		if !pathsafe.IsName(name) || name == "." || !filepath.IsLocal("x/"+name) || strings.ContainsAny(name, "\n\x00") {
			t.Errorf("%q is not a path in a tree", name)
		}
		if part := pathsafe.VersionControlPart(name); part != "" {
			t.Errorf("%q is written with %q", name, part)
		}
		for part := range strings.SplitSeq(strings.ReplaceAll(name, `\`, "/"), "/") {
			if part == "" || part == "." || part == ".." {
				t.Errorf("%q is another path on Windows", name)
			}
		}
		if reason := pathsafe.ReadText(name); reason != "" {
			t.Errorf("%q is written and not read: it %s", name, reason)
		}
		for component := range strings.SplitSeq(name, "/") {
			if pathsafe.IsMetadata(component) {
				t.Errorf("%q is written and passed over by reading", name)
			}
		}
		if reason := pathsafe.WrittenTarget(name); reason != "" {
			t.Errorf("%q is a name, and cannot be a target: it %s", name, reason)
		}
	})
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, dir string
		want      bool
	}{
		{"a", "a", true},
		{"a/b", "a", true},
		{"ab", "a", false},
		{"a", "a/b", false},
		{"a", "", false},
		{"", "", true},
		{"/a", "/", true},
	} {
		if got := pathsafe.Within(test.name, test.dir); got != test.want {
			t.Errorf("Within(%q, %q) = %t", test.name, test.dir, got)
		}
	}
}
