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

// Package pathsafe tests the rules for names, and package internal/hostile names of all kinds in archives
// and git trees.
var (
	goodNames = []string{"main.tf", "a/b/c", ".gitignore", "é", "a:b", "CON"}
	badNames  = []string{"", "/x", "../a", "a/../b", `a\b`, "a\nb", "a\xff", "\u202ea", ".git/config", strings.Repeat("d/", 64) + "f"}
)

func TestWriterRefusesNames(t *testing.T) {
	t.Parallel()
	for _, name := range goodNames {
		if err := treewriter.CheckName(name); err != nil {
			t.Errorf("CheckName(%q) = %v, want nil", name, err)
		}
	}
	for _, name := range badNames {
		for kind, bad := range map[string]entry{"file": file(name), "dir": dir(name), "link": link(name, "ok")} {
			_, _, err := write(t, treewriter.Limits{}, file("ok"), bad)
			var refused *treewriter.PathError
			if !errors.As(err, &refused) || refused.Path != name {
				t.Errorf("%s %q: error is %v, want a *PathError with the name", kind, name, err)
			}
		}
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
