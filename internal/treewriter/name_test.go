package treewriter_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cotterpin/cotter/internal/treewriter"
)

var goodNames = []string{
	"main.tf", "a/b/c", ".gitignore", ".gitmodules", ".gitattributes", ".github/workflows/x.yml", ".terraform.lock.hcl",
	"...", "..a", "a..", ".a", "~", "git~2", "git", "x.git", ".gitx", ".hgignore", "a b", " a", "-rf", "$HOME", "%2e%2e",
	"naïve.tf", "模块/主.tf", "é", "e\u0301", "a:b", "CON", "con.tf", "COM¹", "LPT1 .txt", "a.", "a ", "a?b", "zero\u200bwidth",
	strings.Repeat("n", 255), strings.Repeat("d/", 63) + "f",
	strings.Repeat(strings.Repeat("p", 127)+"/", 7) + strings.Repeat("p", 128),
}

var badNames = []string{
	"", "/", "/etc/passwd", "//x", "a//b", "a/", "/a/", ".", "..", "./a", "../a", "a/.", "a/..", "a/../b", "a/./b", "a/../../b",
	`a\b`, `..\x`, `C:\x`, `\\?\x`, `\\server\share`,
	"a\x00b", "a\nb", "a\rb", "a\tb", "a\x1b[31m", "a\x7f", "a\u0080", "a\u009b", "a\xff", "\xc3\x28", "\xed\xa0\x80",
	"\u202ea", "a\u2066", "a\u200e", "a\u200f", "a\u061c", "\ufeffa", "a\u2028b", "a\u2029b",
	strings.Repeat("n", 256), strings.Repeat("d/", 64) + "f", strings.Repeat("abc/", 256) + "f",
	".git", ".git/config", "a/.git/hooks/x", ".GIT", ".Git/HEAD", ".g\u200dit", ".gi\u200ct", "git~1", "GIT~1/x", ".git ", ".git.",
	".git. . ", ".git::$INDEX_ALLOCATION", ".git:x", ".hg", ".HG/hgrc", "hg~1", ".svn", ".\u017fvn", "SVN~1", ".bzr", ".bzr.", ".g\u206ait",
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for _, name := range goodNames {
		if err := treewriter.CheckName(name); err != nil {
			t.Errorf("CheckName(%q) = %v, want nil", name, err)
		}
	}
	for _, name := range badNames {
		var refused *treewriter.PathError
		if err := treewriter.CheckName(name); !errors.As(err, &refused) || refused.Path != name {
			t.Errorf("CheckName(%q) = %v, want a *PathError with the name", name, err)
		}
	}
}

func TestWriterRefusesNames(t *testing.T) {
	t.Parallel()
	for _, name := range badNames {
		for kind, bad := range map[string]entry{"file": file(name), "dir": dir(name), "link": link(name, "ok")} {
			_, _, err := write(t, treewriter.Limits{}, file("ok"), bad)
			var refused *treewriter.PathError
			if !errors.As(err, &refused) {
				t.Errorf("%s %q: error is %v, want a *PathError", kind, name, err)
			}
		}
	}
}

func TestUnportableNames(t *testing.T) {
	t.Parallel()
	tests := map[string][]entry{
		"case":            {file("A"), file("a")},
		"case of dirs":    {file("A/x"), file("a/y")},
		"dir and file":    {file("MODULES"), file("modules/x")},
		"dir and link":    {file("MODULES/x"), link("modules", "MODULES")},
		"normalization":   {file("é"), file("e\u0301")},
		"full case fold":  {file("straße"), file("STRASSE")},
		"long s":          {file("ſ"), file("s")},
		"kelvin":          {file("K"), file("k")},
		"ligature":        {file("ﬁ"), file("FI")},
		"composed + case": {file("É"), file("e\u0301")},
		"device":          {file("con.tf")},
		"device dir":      {file("x/AUX/y")},
		"superscript":     {file("COM¹")},
		"space in device": {file("LPT1 .txt")},
		"trailing dot":    {file("a.")},
		"trailing space":  {file("a /b")},
		"stream":          {file("x:y")},
		"wildcard":        {dir("a?")},
	}
	for name, entries := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := write(t, treewriter.Limits{Portable: true}, entries...)
			var refused *treewriter.PathError
			if !errors.As(err, &refused) {
				t.Errorf("Portable: error is %v, want a *PathError", err)
			}
			_, w, err := write(t, treewriter.Limits{}, entries...)
			if errors.As(err, &refused) {
				return // this file system cannot store these names
			}
			if got := w.Warnings(); err != nil || len(got) != 1 {
				t.Errorf("error %v and Warnings() = %q, want one", err, got)
			}
		})
	}
}

func TestPortableNames(t *testing.T) {
	t.Parallel()
	names := []string{"com", "com10", "COMX", "lpt", "console", "conx.tf", "nul1", "a.con", "aux_", "ss", "é", "İ", "i"}
	var entries []entry
	for _, name := range names {
		entries = append(entries, file(name))
	}
	if _, _, err := write(t, treewriter.Limits{Portable: true}, entries...); err != nil {
		t.Error(err)
	}
}

func TestWarningsCount(t *testing.T) {
	t.Parallel()
	_, w, err := write(t, treewriter.Limits{}, file("a:1"), file("a:2"), file("a:3"))
	if err != nil {
		t.Skip("this system cannot hold the names: ", err)
	}
	got := w.Warnings()
	if len(got) != 1 || !strings.Contains(got[0], `"a:1"`) || !strings.Contains(got[0], "2 more") {
		t.Errorf("Warnings() = %q, want one that names the first and counts 2 more", got)
	}
}

func FuzzNames(f *testing.F) {
	for _, name := range append(goodNames, badNames...) {
		f.Add(name, "target")
		f.Add("link", name)
	}
	f.Fuzz(func(t *testing.T, name, target string) {
		out, _, err := write(t, treewriter.Limits{}, dir("d"), file("f"), entry{name: name, text: "x"}, link("d/l", target+" "), link("d/m", "../f"))
		_ = err
		_, _, _ = write(t, treewriter.Limits{}, file("target"), link("link", target+"x"))
		if treewriter.CheckName(name) != nil {
			return
		}
		if !utf8.ValidString(name) || path.Clean("/"+name) != "/"+name {
			t.Fatalf("CheckName(%q) = nil", name)
		}
		if info, err := os.Lstat(out); err == nil && info.Mode().Type() != fs.ModeDir {
			t.Fatalf("the tree became a %v", info.Mode())
		}
	})
}
