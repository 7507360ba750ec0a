package vendordir_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/installed"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/vendordir"
	"github.com/cotterpin/cotter/lockfile"
)

// repository creates a git repository with a root module in "root" and returns both paths.
func repository(t testing.TB) (top, root string) {
	t.Helper()
	top = t.TempDir()
	root = filepath.Join(top, "root")
	for _, dir := range []string{filepath.Join(top, ".git"), root} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return top, root
}

func open(t testing.TB, root, name string) *vendordir.Dir {
	t.Helper()
	d, err := vendordir.Open(root, name, filepath.Join(root, ".terraform"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// commit writes packages, each with one file, and keeps the packages in keep. It returns the
// entries of all packages that it has written.
func commit(t testing.TB, d *vendordir.Dir, packages map[string]string, keep ...string) (map[string]lockfile.Module, error) {
	t.Helper()
	change, err := d.Begin()
	if err != nil {
		return nil, err
	}
	defer change.Close()
	entries, sums := make(map[string]lockfile.Module), make(map[string][]byte)
	var staged []string
	for key, text := range packages {
		write(t, filepath.Join(change.Stage(key), "main.tf"), text)
		if err := os.Mkdir(filepath.Join(change.Stage(key), "empty"), 0o755); err != nil {
			t.Fatal(err)
		}
		tree, err := store.ReadTree(change.Stage(key))
		if err != nil {
			t.Fatal(err)
		}
		entries[key] = lockfile.Module{Key: key, Hashes: []hashing.Hash{tree.H1(), tree.T1()}}
		if sums[store.FileName(tree.T1())], err = tree.MarshalText(); err != nil {
			t.Fatal(err)
		}
		staged = append(staged, key)
	}
	return entries, change.Commit(staged, keep, sums)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	top, root := repository(t)
	write(t, filepath.Join(root, "file"), "")
	for link, target := range map[string]string{"link": "..", "elsewhere": t.TempDir()} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip("the file system has no links")
		}
	}
	if err := os.Mkdir(filepath.Join(root, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"vendor":              "",
		"./vendor/modules/":   "",
		"../vendor/root":      "",
		"":                    "is not a path relative to the root module",
		"/vendor":             "is not a path relative to the root module",
		".":                   "has the root module itself",
		"..":                  "has the root module itself",
		"../root":             "has the root module itself",
		"vendor/..":           "has the root module itself",
		"../../vendor":        "is outside the repository",
		"../..":               "has the root module itself",
		".terraform/vendor":   "is inside .terraform",
		"../.git/vendor":      "is inside .git",
		"GIT~1/vendor":        "is inside GIT~1",
		"a/.git./vendor":      "is inside .git.",
		".g\u200cit/vendor":   "is inside",
		"vendor/.Terraform/x": "is inside .Terraform",
		"data":                "overlaps with the data directory",
		"data/vendor":         "overlaps with the data directory",
		"link/vendor":         "is a symbolic link",
		"elsewhere":           "is a symbolic link",
		"file/vendor":         "is not a directory",
	} {
		_, err := vendordir.Open(root, name, filepath.Join(root, "data"))
		var place *vendordir.PlaceError
		if got := errors.As(err, &place); got != (want != "") || got && !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q) = %v, want an error with %q", name, err, want)
		}
	}
	if _, err := vendordir.Open(top, "vendor", filepath.Join(top, ".terraform")); err != nil {
		t.Errorf("Open in the top directory: %v", err)
	}
	alone := t.TempDir()
	if _, err := vendordir.Open(alone, "../vendor", filepath.Join(alone, ".terraform")); err == nil {
		t.Error("Open beside a root module that is in no repository: no error")
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	_, root := repository(t)
	d := open(t, root, "vendor")
	first, err := commit(t, d, map[string]string{"a": "# a\n", "b": "# b\n", "c": "# c\n"}, "a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	// Simulate a process that was killed during a change, after it had retired a package.
	write(t, filepath.Join(root, "vendor/.cotter/stage-X/a/main.tf"), "# half\n")
	if err := os.Mkdir(filepath.Join(root, "vendor/.cotter/retired-X"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(root, "vendor/b"), filepath.Join(root, "vendor/.cotter/retired-X/b")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "vendor/notes.txt"), "mine\n")
	if got := open(t, root, "vendor").Inspect(first["b"]).Status; got != installed.Missing {
		t.Errorf("a package that was retired has status %v, want Missing", got)
	}
	second, err := commit(t, d, map[string]string{"b": "# b\n", "a": "# new\n"}, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	d = open(t, root, "./vendor")
	for _, entry := range second {
		if got := d.Inspect(entry); got.Status != installed.Verified {
			t.Errorf("%s after the second change: %+v", entry.Key, got)
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, d.Keys()); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
	names, err := filepath.Glob(filepath.Join(root, "vendor/.cotter/*"))
	if err != nil || len(names) != 2 {
		t.Errorf(".cotter has %q, want the record and the sums", names)
	}
	if _, err := os.Stat(filepath.Join(root, "vendor/notes.txt")); err != nil {
		t.Errorf("a file of others: %v", err)
	}
}

// TestRefusals checks that files that are not vendored packages are never replaced or removed.
func TestRefusals(t *testing.T) {
	t.Parallel()
	top, root := repository(t)
	write(t, filepath.Join(root, "mine/main.tf"), "# mine\n")
	var notOurs *vendordir.NotOursError
	if _, err := commit(t, open(t, root, "mine"), nil); !errors.As(err, &notOurs) {
		t.Errorf("a directory of others: %v", err)
	}
	d := open(t, root, "../vendor")
	if _, err := commit(t, d, map[string]string{"a": "# a\n"}, "a"); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(top, "vendor/b/main.tf"), "# mine\n")
	if _, err := commit(t, d, map[string]string{"b": "# b\n"}, "a", "b"); !errors.As(err, &notOurs) || notOurs.Dir != "../vendor/b" {
		t.Errorf("a package in the place of a directory of others: %v", err)
	}
	if _, err := commit(t, d, map[string]string{"A": "# A\n"}, "a", "A"); err == nil || !strings.Contains(err.Error(), "upper from lower case") {
		t.Errorf("keys that differ in case: %v", err)
	}
	other := filepath.Join(top, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := commit(t, open(t, other, "../vendor"), nil); !errors.As(err, &notOurs) || notOurs.Root != "../root" {
		t.Errorf("the directory of another root module: %v", err)
	}
	// A change that is closed without a commit leaves no files.
	change, err := open(t, root, "new/modules").Begin()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(change.Stage("a"), "main.tf"), "")
	change.Close()
	if _, err := os.Lstat(filepath.Join(root, "new/modules")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a change that was not made left its directory: %v", err)
	}
}

// TestUndo checks that a change that fails leaves the previous state.
func TestUndo(t *testing.T) {
	t.Parallel()
	_, root := repository(t)
	d := open(t, root, "vendor")
	first, err := commit(t, d, map[string]string{"a": "# a\n", "b": "# b\n"}, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	change, err := d.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer change.Close()
	write(t, filepath.Join(change.Stage("a"), "main.tf"), "# new\n")
	if err := change.Commit([]string{"a", "lost"}, []string{"a", "lost"}, nil); err == nil {
		t.Fatal("Commit of a package that is not staged: no error")
	}
	d = open(t, root, "vendor")
	for _, entry := range first {
		if got := d.Inspect(entry); got.Status != installed.Verified {
			t.Errorf("%s after the change failed: %+v", entry.Key, got)
		}
	}
	if removed, err := d.Removed([]string{"a"}); err != nil || !cmp.Equal(removed, []string{"b"}) {
		t.Errorf("Removed = %q, %v", removed, err)
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do     func(t *testing.T, dir string)
		status installed.Status
		want   hashing.Changes
	}{
		"as it was": {do: func(*testing.T, string) {}, status: installed.Verified},
		"git keeps no empty directories": {
			do:     func(t *testing.T, dir string) { remove(t, dir, "a/empty") },
			status: installed.Verified,
		},
		"a file was added": {
			do:     func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a/notes.txt"), "") },
			status: installed.Changed, want: hashing.Changes{Added: []string{"notes.txt"}},
		},
		"a file was changed": {
			do:     func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a/main.tf"), "# evil\n") },
			status: installed.Changed, want: hashing.Changes{Changed: []string{"main.tf"}},
		},
		"a file was removed": {
			do:     func(t *testing.T, dir string) { remove(t, dir, "a/main.tf") },
			status: installed.Changed, want: hashing.Changes{Vanished: []string{"main.tf"}},
		},
		"a link leaves the package": {
			do:     func(t *testing.T, dir string) { link(t, "../../../secret", filepath.Join(dir, "a/link.tf")) },
			status: installed.Changed, want: hashing.Changes{Added: []string{"link.tf"}},
		},
		"the package is a link": {
			do: func(t *testing.T, dir string) {
				if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "../elsewhere")); err != nil {
					t.Fatal(err)
				}
				link(t, "../elsewhere", filepath.Join(dir, "a"))
			},
			status: installed.Changed,
		},
		"the sums are gone, and a file was changed": {
			do: func(t *testing.T, dir string) {
				remove(t, dir, ".cotter")
				write(t, filepath.Join(dir, "a/main.tf"), "# evil\n")
			},
			status: installed.Changed,
		},
		"the sums are gone": {
			do:     func(t *testing.T, dir string) { remove(t, dir, ".cotter") },
			status: installed.Verified,
		},
		"the sums are those of a changed file": {
			do:     forgeSums,
			status: installed.Changed,
		},
		"the package is gone": {
			do:     func(t *testing.T, dir string) { remove(t, dir, "a") },
			status: installed.Missing,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, root := repository(t)
			entries, err := commit(t, open(t, root, "vendor"), map[string]string{"a": "# a\n"}, "a")
			if err != nil {
				t.Fatal(err)
			}
			test.do(t, filepath.Join(root, "vendor"))
			got := open(t, root, "vendor").Inspect(entries["a"])
			if got.Status != test.status {
				t.Errorf("status %v, want %v: %v", got.Status, test.status, got.Err)
			}
			if diff := cmp.Diff(test.want, got.Changes); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// forgeSums changes a file and also the recorded sums of its package.
func forgeSums(t *testing.T, dir string) {
	t.Helper()
	write(t, filepath.Join(dir, "a/main.tf"), "# evil\n")
	tree, err := store.ReadTree(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := tree.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, ".cotter/sums/*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("sums: %q, %v", names, err)
	}
	write(t, names[0], string(text))
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skip("the file system has no links")
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add([]byte("# comment\nroot ../..\npackage a\npackage b.c\n"))
	f.Add([]byte("root .\npackage ../x\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		text, err := vendordir.ParseRecord(src)
		if err != nil {
			return
		}
		for line := range strings.Lines(string(text)) {
			if key, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "package "); ok && (!filepath.IsLocal(key) || strings.Contains(key, "/") || key[0] == '.') {
				t.Errorf("the record %q has the key %q", src, key)
			}
		}
		if again, err := vendordir.ParseRecord(text); err != nil || string(again) != string(text) {
			t.Errorf("%q is written as %q, which gives %q, %v", src, text, again, err)
		}
	})
}
