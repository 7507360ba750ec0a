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

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/testenv"
)

// entry is one call of a Writer: a file unless dir or target is set.
type entry struct {
	name   string
	text   string
	exec   bool
	dir    bool
	target string
}

func file(name string) entry         { return entry{name: name, text: name} }
func dir(name string) entry          { return entry{name: name, dir: true} }
func link(name, target string) entry { return entry{name: name, target: target} }

// write writes entries to a new directory, next to which there is only a canary, and checks that
// nothing but the directory has changed.
func write(t *testing.T, limits treewriter.Limits, entries ...entry) (string, *treewriter.Writer, error) {
	t.Helper()
	outside := t.TempDir()
	canary := filepath.Join(outside, "canary")
	testenv.Must(t, os.WriteFile(canary, []byte("alive"), 0o600))
	out := filepath.Join(outside, "tree")
	w, err := treewriter.Create(t.Context(), out, limits)
	testenv.Must(t, err)
	w.Sum()
	defer func() {
		w.Abort()
		if got := snapshot(t, outside, "tree"); !cmp.Equal(got, map[string]string{"canary": "- 0600 alive"}) {
			t.Errorf("outside of the tree there is %v", got)
		}
	}()
	for _, e := range entries {
		if err := e.add(w); err != nil {
			return out, w, err
		}
	}
	if err := w.Close(); err != nil {
		return out, w, err
	}
	return out, w, checkTree(t, out, w)
}

// checkTree compares the tree of a Writer, if it has one, with the directory.
func checkTree(t *testing.T, dir string, w *treewriter.Writer) error {
	tree, err := w.Tree()
	if err != nil || tree == nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	onDisk, err := hashing.ReadTree(t.Context(), hashing.RootFS(root))
	if err == nil && onDisk.T1() != tree.T1() {
		err = fmt.Errorf("the tree differs from that on disk: %s", cmp.Diff(onDisk, tree))
	}
	return err
}

func (e entry) add(w *treewriter.Writer) error {
	switch {
	case e.dir:
		return w.Dir(e.name)
	case e.target != "":
		return w.Symlink(e.name, e.target)
	}
	return w.File(e.name, e.exec, strings.NewReader(e.text))
}

func snapshot(t *testing.T, dir, except string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		switch {
		case err != nil:
			return err
		case rel == ".":
			return nil
		case rel == except:
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		got[filepath.ToSlash(rel)] = describe(t, name)
		return nil
	})
	testenv.Must(t, err)
	return got
}

func describe(t *testing.T, name string) string {
	t.Helper()
	info, err := os.Lstat(name)
	testenv.Must(t, err)
	switch info.Mode().Type() {
	case fs.ModeDir:
		return "d " + mode(info)
	case fs.ModeSymlink:
		target, err := os.Readlink(name)
		testenv.Must(t, err)
		return "l " + target
	}
	text, err := os.ReadFile(name)
	testenv.Must(t, err)
	return "- " + mode(info) + " " + string(text)
}

func mode(info fs.FileInfo) string { return fmt.Sprintf("%04o", info.Mode().Perm()) }

func TestWriter(t *testing.T) {
	t.Parallel()
	out, w, err := write(t, treewriter.Limits{},
		file("main.tf"),
		entry{name: "bin/run.sh", text: "#!/bin/sh", exec: true},
		link("modules/a/shared", "../../shared"),
		dir("empty/deep"),
		file("shared/x.tf"),
		file("main.tf.d/x"),
		dir("shared"),
		link("README.md", "./docs/index.md"),
		file("docs/index.md"),
		link("chain", "README.md"),
		link("docs/up", "../"),
		file("bin/again"),
	)
	testenv.Must(t, err)
	want := map[string]string{
		"main.tf":          "- 0644 main.tf",
		"bin":              "d 0755",
		"bin/run.sh":       "- 0755 #!/bin/sh",
		"bin/again":        "- 0644 bin/again",
		"modules":          "d 0755",
		"modules/a":        "d 0755",
		"modules/a/shared": "l ../../shared",
		"empty":            "d 0755",
		"empty/deep":       "d 0755",
		"shared":           "d 0755",
		"shared/x.tf":      "- 0644 shared/x.tf",
		"main.tf.d":        "d 0755",
		"main.tf.d/x":      "- 0644 main.tf.d/x",
		"docs":             "d 0755",
		"docs/index.md":    "- 0644 docs/index.md",
		"docs/up":          "l ../",
		"README.md":        "l ./docs/index.md",
		"chain":            "l README.md",
	}
	if diff := cmp.Diff(want, snapshot(t, out, "")); diff != "" {
		t.Errorf("tree differs (-want +got):\n%s", diff)
	}
	if got := w.Warnings(); got != nil {
		t.Errorf("Warnings() = %q, want none", got)
	}
}

func TestWriterRefusesClashes(t *testing.T) {
	t.Parallel()
	tests := map[string][]entry{
		"second file":         {file("a"), file("a")},
		"second link":         {file("b"), link("a", "b"), link("a", "b")},
		"file then dir":       {file("a"), dir("a")},
		"dir then file":       {dir("a"), file("a")},
		"file then below":     {file("a"), file("a/b")},
		"below then file":     {file("a/b"), file("a")},
		"link then below":     {dir("b"), link("a", "b"), file("a/c")},
		"outside link below":  {link("a", "/tmp"), file("a/c")},
		"below then link":     {file("a/c"), dir("b"), link("a", "b")},
		"link then dir":       {dir("b"), link("a", "b"), dir("a")},
		"dir then link":       {dir("a"), dir("b"), link("a", "b")},
		"link then link dir":  {dir("b"), link("a", "b"), link("a/c", "b")},
		"parent link to root": {link("a", ".."), file("a/canary")},
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
}

func TestWriterErrorIsFinal(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "tree")
	w, err := treewriter.Create(t.Context(), out, treewriter.Limits{})
	testenv.Must(t, err)
	first := w.File("../x", false, strings.NewReader(""))
	for _, err := range []error{w.Dir("ok"), w.File("ok", false, strings.NewReader("")), w.Symlink("a", "b"), w.Close()} {
		if !errors.Is(err, first) {
			t.Errorf("later error is %v, want %v", err, first)
		}
	}
	w.Abort()
	if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Abort, Lstat is %v, want not exist", err)
	}
}

func TestWriterReadError(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "tree")
	w, err := treewriter.Create(t.Context(), out, treewriter.Limits{})
	testenv.Must(t, err)
	closed, err := os.Open(os.DevNull)
	testenv.Must(t, err)
	closed.Close()
	// An error that looks like the error of a closed tree must not stop Abort.
	if err := w.File("a", false, closed); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("File of a closed reader: %v, want fs.ErrClosed", err)
	}
	w.Abort()
	if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Abort, Lstat is %v, want not exist", err)
	}
}

func TestAbortAfterClose(t *testing.T) {
	t.Parallel()
	out, w, err := write(t, treewriter.Limits{}, file("a"))
	testenv.Must(t, err)
	w.Abort()
	if _, err := os.Lstat(filepath.Join(out, "a")); err != nil {
		t.Error(err)
	}
	if err := w.File("b", false, strings.NewReader("")); err == nil {
		t.Error("File after Close is no error")
	}
}

func TestCreateOverExisting(t *testing.T) {
	t.Parallel()
	if _, err := treewriter.Create(t.Context(), t.TempDir(), treewriter.Limits{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create over a directory: %v, want fs.ErrExist", err)
	}
}
