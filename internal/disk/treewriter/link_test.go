package treewriter_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/testenv"
)

var linkTree = []entry{file("f"), file("d/f"), file("d/e/f"), link("to-f", "f"), link("to-d", "d"), link("d/up", "..")}

var goodTargets = []string{
	"f", "./f", "d", "d/", "d/f", "./d/", "d/e/f", "to-f", "to-d", "to-d/f", "to-d/e", "d/up/f", "d/up/to-d/up/f", ".", "./",
}

var badTargets = []string{
	"..", "../x", "../../etc/passwd", "d/../..", "/", "/etc/passwd", "/dev/zero", "//f", "nothing", "d/nothing", "f/", "f/x", "to-f/x",
	"d//f", "d/./f", "d/../f", "to-d/../f", "d//", "././f", "self", "./self", "self/x", "d/up/..", "d/up/../f", `d\f`, `C:\x`, "a\x00b", "f\n", "\u202ef", "\xff",
	strings.Repeat("x", 1025), "F",
}

func TestLinkTargets(t *testing.T) {
	t.Parallel()
	for _, target := range goodTargets {
		_, _, err := write(t, treewriter.Limits{}, append(linkTree, link("self", target))...)
		if err != nil {
			t.Errorf("link to %q: %v", target, err)
		}
	}
	for _, target := range badTargets {
		wantLeftOut(t, fmt.Sprintf("link to %q", target), []string{"self"}, append(linkTree, link("self", target))...)
	}
}

func wantLeftOut(t *testing.T, what string, want []string, entries ...entry) {
	t.Helper()
	out, w, err := write(t, treewriter.Limits{}, entries...)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	var got []string
	for _, l := range w.LeftOut() {
		got = append(got, l.Path)
		if _, err := os.Lstat(filepath.Join(out, l.Path)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %s is left out and on disk: %v", what, l.Path, err)
		}
		if l.Reason == "" {
			t.Errorf("%s: there is no reason for %s", what, l)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: left out (-want +got):\n%s", what, diff)
	}
	if warnings := w.Warnings(); len(warnings) == 0 || !strings.Contains(warnings[0], "left out") {
		t.Errorf("%s: warnings are %q", what, warnings)
	}
}

func TestEmptyLinkTarget(t *testing.T) {
	t.Parallel()
	w, err := treewriter.Create(t.Context(), t.TempDir()+"/tree", treewriter.Limits{})
	testenv.Must(t, err)
	defer w.Abort()
	_ = w.Symlink("a", "")
	if err := w.Close(); err != nil || len(w.LeftOut()) != 1 || !w.Empty() {
		t.Errorf("Close with an empty target: %v, left out %v, empty %v", err, w.LeftOut(), w.Empty())
	}
}

// Package pathsafe tests how links are followed. What points to a link that is left out is left out as well.
func TestLinkSets(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		entries []entry
		leftOut string
	}{
		"pair in circles":    {[]entry{link("a", "b"), link("b", "a")}, "a b"},
		"absolute by way of": {[]entry{link("a", "/tmp"), link("b", "a"), file("c"), link("d", "c")}, "a b"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantLeftOut(t, name, strings.Fields(test.leftOut), test.entries...)
		})
	}
	if _, w, err := write(t, treewriter.Limits{}, doubling(64)...); err != nil || len(w.LeftOut()) == 0 {
		t.Errorf("links that double their steps: %v, left out %v", err, w.LeftOut())
	}
}

// doubling returns links of which each takes twice as many steps to resolve as the previous one.
func doubling(n int) []entry {
	entries := []entry{dir("l0")}
	for i := range n {
		entries = append(entries, link(fmt.Sprintf("l%d", i+1), fmt.Sprintf("l%d/x", i)))
	}
	return append(entries, link("l0/x", "."))
}

// One warning names the first few links and counts the others.
func TestLeftOutWarning(t *testing.T) {
	t.Parallel()
	entries := []entry{file("f")}
	for i := range 5 {
		entries = append(entries, link(fmt.Sprintf("l%d", i), "/etc/passwd"))
	}
	_, w, err := write(t, treewriter.Limits{}, entries...)
	want := `symbolic links that lead nowhere in the package are left out: "l0" to "/etc/passwd", which is absolute; ` +
		`"l1" to "/etc/passwd", which is absolute; "l2" to "/etc/passwd", which is absolute; and 2 more`
	if diff := cmp.Diff([]string{want}, w.Warnings()); err != nil || diff != "" {
		t.Errorf("%v, warnings (-want +got):\n%s", err, diff)
	}
}

// A part of a tree loses the links that point to the rest of the tree.
func TestPruneLinks(t *testing.T) {
	t.Parallel()
	out, _, err := write(t, treewriter.Limits{}, file("f"), file("d/f"), link("d/in", "f"), link("d/out", "../f"), link("d/e/by", "../out"))
	testenv.Must(t, err)
	w, err := treewriter.PruneLinks(filepath.Join(out, "d"))
	if err != nil || len(w.LeftOut()) != 2 {
		t.Fatalf("PruneLinks = %v, %v", w, err)
	}
	want := map[string]string{"f": "- 0644 f", "d": "d 0755", "d/f": "- 0644 d/f", "d/in": "l f", "d/e": "d 0755"}
	if diff := cmp.Diff(want, snapshot(t, out, "")); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}
