package treewriter_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/testenv"
)

// Package pathsafe tests the rules for names, and package internal/hostile names of all kinds in archives
// and git trees.
var (
	goodNames = []string{"main.tf", "a/b/c", ".gitignore", "é", "a:b", "CON", `a\b`, "Icon\r", "caf\xe9", "\u202ea"}
	badNames  = []string{"", "/x", "../a", "a/../b", `..\a`, `a\.git`, "a\nb", "a\x00", ".git/config", strings.Repeat("d/", 64) + "f"}
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

// Windows refuses the names that are not portable, and every system writes the others.
func TestUnusualNames(t *testing.T) {
	t.Parallel()
	for name, portable := range map[string]bool{"Icon\r": false, `run-x\x2dy.mount`: false, "caf\xe9": false, "a.": false, "a\u202eb": true, "a\x7f": true} {
		_, _, err := write(t, treewriter.Limits{Portable: true}, file("ok"), file("d/"+name))
		var refused *treewriter.PathError
		if portable != (err == nil) || err != nil && (!errors.As(err, &refused) || refused.Path != "d/"+name) {
			t.Errorf("with portable names, %q: error is %v, want none: %v", name, err, portable)
		}
		if runtime.GOOS != "linux" {
			continue
		}
		out, w, err := write(t, treewriter.Limits{}, dir("d/"+name), entry{name: "d/" + name + "/" + name, text: "x"}, link("l", "./d/"+name+"/"+name))
		testenv.Must(t, err)
		if len(w.Warnings()) != 1 || !strings.Contains(w.Warnings()[0], fmt.Sprintf("%q: the name ", "d/"+name)) || strings.ContainsAny(w.Warnings()[0], "\r\x7f\u202e") {
			t.Errorf("%q: warnings are %q, want one with the name", name, w.Warnings())
		}
		if text, err := os.ReadFile(filepath.Join(out, "l")); err != nil || string(text) != "x" {
			t.Errorf("a link to %q: %q, %v", name, text, err)
		}
		copied := filepath.Join(t.TempDir(), "copy")
		root, err := os.OpenRoot(out)
		testenv.Must(t, err)
		defer root.Close()
		testenv.Must(t, copyTree(t.Context(), copied, pathsafe.FS(root), treewriter.Limits{}))
		if diff := cmp.Diff(snapshot(t, out, ""), snapshot(t, copied, "")); diff != "" {
			t.Errorf("the copy of %q differs (-want +got):\n%s", name, diff)
		}
	}
}

// One warning names what some system cannot store, or else what is not shown as it is.
func TestWarningExample(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("this system refuses such names")
	}
	for want, entries := range map[string][]entry{
		`the package has names that are not shown as they are: "\u202ea": the name holds U+202E, which changes how the text around it is shown (and 1 more names like this)`: {file("\u202ea"), file("b\u202e")},
		`the package cannot be installed on every system: "a:": the name holds one of <>:"|?*, which Windows does not allow (and 2 more names like this)`:                    {file("\u202ea"), file("a:"), file("b:")},
	} {
		_, w, err := write(t, treewriter.Limits{}, entries...)
		if diff := cmp.Diff([]string{want}, w.Warnings()); err != nil || diff != "" {
			t.Errorf("%v, warnings (-want +got):\n%s", err, diff)
		}
	}
}

// What a file system does not allow is refused by its name. Other errors quote the name too, which may be anything.
func TestNotStored(t *testing.T) {
	t.Parallel()
	_, w, err := write(t, treewriter.Limits{}, file("main.tf"))
	testenv.Must(t, err)
	for cause, isRefused := range map[error]bool{syscall.EILSEQ: true, syscall.EINVAL: true, syscall.ENAMETOOLONG: true, syscall.ENOSPC: false, fs.ErrPermission: false} {
		err := treewriter.NotStored(w, "d/a\rb", &fs.PathError{Op: "openat", Path: "a\rb", Err: cause})
		refused, ok := errors.AsType[*treewriter.PathError](err)
		if ok != isRefused || ok && refused.Path != "d/a\rb" || !ok && !errors.Is(err, cause) || !strings.Contains(err.Error(), `"d/a\rb": `) || strings.Contains(err.Error(), "\r") {
			t.Errorf("%v becomes %q, want a *PathError: %v", cause, err, isRefused)
		}
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
		if path.Clean("/"+name) != "/"+name {
			t.Fatalf("CheckName(%q) = nil", name)
		}
		if info, err := os.Lstat(out); err == nil && info.Mode().Type() != fs.ModeDir {
			t.Fatalf("the tree became a %v", info.Mode())
		}
	})
}
