package treewriter_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	big := entry{name: "big", text: "0123456789"}
	tests := map[string]struct {
		limits  treewriter.Limits
		entries []entry
		path    string // the path that exceeds the limit; "" if none does
	}{
		"file fits":       {treewriter.Limits{FileBytes: 10}, []entry{big}, ""},
		"file too large":  {treewriter.Limits{FileBytes: 9}, []entry{big}, "big"},
		"tree fits":       {treewriter.Limits{TreeBytes: 11}, []entry{big, file("a")}, ""},
		"tree too large":  {treewriter.Limits{TreeBytes: 10}, []entry{big, file("a")}, "a"},
		"empty file fits": {treewriter.Limits{TreeBytes: 10}, []entry{big, {name: "a"}}, ""},
		"entries fit":     {treewriter.Limits{Entries: 3}, []entry{file("a/b"), link("c", "a")}, ""},
		"file too many":   {treewriter.Limits{Entries: 1}, []entry{file("a"), file("b")}, "b"},
		"dir too many":    {treewriter.Limits{Entries: 2}, []entry{file("a/b"), dir("c")}, "c"},
		"implied too":     {treewriter.Limits{Entries: 2}, []entry{file("a/b/c")}, "a/b/c"},
		"link too many":   {treewriter.Limits{Entries: 1}, []entry{file("a"), link("b", "a")}, "b"},
		"negative":        {treewriter.Limits{FileBytes: -1}, []entry{{name: "a"}}, "a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := write(t, test.limits, test.entries...)
			var over *packagelimits.Error
			switch {
			case test.path == "" && err != nil:
				t.Errorf("error is %v, want none", err)
			case test.path != "" && (!errors.As(err, &over) || over.Path != test.path):
				t.Errorf("error is %v, want a *packagelimits.Error of %q", err, test.path)
			}
		})
	}
}

// A tree of many entries waits for another one, and a limit on all paths keeps the list of one small.
func TestManyEntries(t *testing.T) {
	t.Parallel()
	const few = 25_000
	var other packagelimits.Share
	testenv.Must(t, other.Grow(t.Context(), few+1))
	defer other.Close()
	ctx, cancel := context.WithCancel(t.Context())
	w, err := treewriter.Create(ctx, filepath.Join(t.TempDir(), "tree"), treewriter.Limits{})
	testenv.Must(t, err)
	defer w.Abort()
	for i := range few {
		testenv.Must(t, w.File(strconv.Itoa(i), false, strings.NewReader("")))
	}
	cancel()
	if err := w.File("more", false, strings.NewReader("")); !errors.Is(err, context.Canceled) {
		t.Errorf("one more entry beside another large tree = %v, want that it waits until the context is done", err)
	}
}

func TestLongPaths(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(strings.Repeat("d", 250)+"/", 4)
	most := packagelimits.PathBytes / len(deep)
	var long []entry
	for i := range most + 1 {
		long = append(long, entry{name: deep + strconv.Itoa(i)})
	}
	_, _, err := write(t, treewriter.Limits{}, long...)
	if limit, ok := errors.AsType[*packagelimits.Error](err); !ok || limit.Limit != packagelimits.OfPaths {
		t.Errorf("error is %v, want one about the length of all paths", err)
	}
}

// The disk of a run is shared by all its trees, and by copies of files.
func TestRunLimit(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]func(t *testing.T) fs.FS{
		"files on disk": func(t *testing.T) fs.FS {
			t.Helper()
			dir := t.TempDir()
			testenv.Must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("0123456789"), 0o600))
			return pathsafe.DirFS(dir)
		},
		"other files": func(*testing.T) fs.FS { return fstest.MapFS{"f": {Data: []byte("0123456789")}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, out := source(t), t.TempDir()
			ctx := packagelimits.NewDisk(25).In(t.Context())
			for _, to := range []string{"a", "b"} {
				testenv.Must(t, copyTree(ctx, filepath.Join(out, to), from, treewriter.Limits{}))
			}
			err := copyTree(ctx, filepath.Join(out, "c"), from, treewriter.Limits{})
			over, ok := errors.AsType[*packagelimits.Error](err)
			if !ok || over.Limit != packagelimits.OfRun || over.Max != 25 {
				t.Errorf("the third copy = %v, want an error about the run", err)
			}
			if _, err := os.Lstat(filepath.Join(out, "c")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the third copy is there: %v", err)
			}
		})
	}
}

func TestLinkLimit(t *testing.T) {
	t.Parallel()
	entries := []entry{file("f")}
	for i := range 1000 {
		entries = append(entries, link(fmt.Sprint(i), "f"))
	}
	if _, _, err := write(t, treewriter.Limits{}, entries...); err != nil {
		t.Errorf("1,000 links: %v", err)
	}
	var over *packagelimits.Error
	if _, _, err := write(t, treewriter.Limits{}, append(entries, link("x", "f"))...); !errors.As(err, &over) {
		t.Errorf("1,001 links: %v, want a *packagelimits.Error", err)
	}
}
