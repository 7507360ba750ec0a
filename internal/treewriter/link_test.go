package treewriter_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/treewriter"
)

// linkTree is what the links of the tests below lie in.
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
		_, _, err := write(t, treewriter.Limits{}, append(linkTree, link("self", target))...)
		var refused *treewriter.PathError
		if !errors.As(err, &refused) || refused.Path != "self" {
			t.Errorf("link to %q: %v, want a *PathError of the link", target, err)
		}
	}
}

func TestEmptyLinkTarget(t *testing.T) {
	t.Parallel()
	w, err := treewriter.Create(t.TempDir()+"/tree", treewriter.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	_ = w.Symlink("a", "")
	var refused *treewriter.PathError
	if err := w.Close(); !errors.As(err, &refused) {
		t.Errorf("Close with an empty target: %v, want a *PathError", err)
	}
}

func TestLinkSets(t *testing.T) {
	t.Parallel()
	tests := map[string][]entry{
		"pair in circles":      {link("a", "b"), link("b", "a")},
		"circle in dirs":       {link("x/a", "../y/b"), link("y/b", "../x/a")},
		"through a circle":     {link("a", "a/b")},
		"chain of 41":          chain(41),
		"step by step outside": {dir("x/y"), link("a", "x/y"), link("b", "a/../../../z")},
		"dir link then out":    {dir("x"), link("x/up", ".."), link("out", "x/up/../canary")},
		"doubling":             doubling(64),
		"absolute by way of":   {link("a", "/tmp"), link("b", "a")},
	}
	for name, entries := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := write(t, treewriter.Limits{}, entries...)
			var refused *treewriter.PathError
			if !errors.As(err, &refused) {
				t.Errorf("error is %v, want a *PathError", err)
			}
		})
	}
	if _, _, err := write(t, treewriter.Limits{}, chain(40)...); err != nil {
		t.Errorf("chain of 40 links: %v", err)
	}
}

// chain is n links to each other, the last to a file.
func chain(n int) []entry {
	entries := []entry{file("l0")}
	for i := range n {
		entries = append(entries, link(fmt.Sprintf("l%d", i+1), fmt.Sprintf("l%d", i)))
	}
	return entries
}

// doubling is links whose resolution takes twice the steps of the one before.
func doubling(n int) []entry {
	entries := []entry{dir("l0")}
	for i := range n {
		entries = append(entries, link(fmt.Sprintf("l%d", i+1), fmt.Sprintf("l%d/x", i)))
	}
	return append(entries, link("l0/x", "."))
}
