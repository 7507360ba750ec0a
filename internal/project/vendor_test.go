package project_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/packagedir"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/lockfile"
)

func repository(t testing.TB) (top, root string) {
	t.Helper()
	top = t.TempDir()
	root = filepath.Join(top, "root")
	for _, dir := range []string{filepath.Join(top, ".git"), root} {
		testenv.Must(t, os.MkdirAll(dir, 0o755))
	}
	return top, root
}

func vendorDir(t testing.TB, root, name string) *project.VendorDir {
	t.Helper()
	d, err := project.FindVendorDir(root, name, filepath.Join(root, ".terraform"))
	testenv.Must(t, err)
	return d
}

func inspect(t testing.TB, root, name string, entry lockfile.Module) packagedir.Report {
	t.Helper()
	dirs := packagedir.NewDirs(nil, root, "", "")
	dirs.SetVendor(vendorDir(t, root, name))
	return dirs.Inspect(t.Context(), entry)
}

// commit writes packages, each with one file, to a root module's directory, and keeps the packages
// in keep. It returns the entries of all packages that it has written.
func commit(t testing.TB, root, name string, packages map[string]string, keep ...string) (map[string]lockfile.Module, error) {
	t.Helper()
	p := at{dir: root, key: userkey.Random()}.open(t)
	defer p.Close()
	p.SetVendorDir(vendorDir(t, root, name))
	entries := make(map[string]lockfile.Module)
	vendor := &project.VendorChange{Keep: keep, Sums: make(map[string][]byte)}
	for key, text := range packages {
		staged, err := p.StageVendored(key)
		if err != nil {
			return nil, err
		}
		testenv.WriteFile(t, filepath.Join(staged, "main.tf"), text)
		testenv.Must(t, os.Mkdir(filepath.Join(staged, "empty"), 0o755))
		tree, err := store.ReadTree(t.Context(), staged)
		testenv.Must(t, err)
		entries[key] = lockfile.Module{Key: key, Hashes: []hashing.Hash{tree.H1(), tree.T1()}}
		if vendor.Sums[store.FileName(tree.T1())], err = tree.MarshalText(); err != nil {
			t.Fatal(err)
		}
		vendor.Staged = append(vendor.Staged, key)
	}
	return entries, p.Commit(project.Change{Manifest: []byte("manifest"), Vendor: vendor})
}

func TestFindVendorDir(t *testing.T) {
	t.Parallel()
	top, root := repository(t)
	testenv.WriteFile(t, filepath.Join(root, "file"), "")
	for link, target := range map[string]string{"link": "..", "elsewhere": t.TempDir()} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip("the file system has no links")
		}
	}
	testenv.Must(t, os.Mkdir(filepath.Join(root, "data"), 0o755))
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
		_, err := project.FindVendorDir(root, name, filepath.Join(root, "data"))
		var place *project.VendorDirError
		if got := errors.As(err, &place); got != (want != "") || got && !strings.Contains(err.Error(), want) {
			t.Errorf("FindVendorDir(%q) = %v, want an error with %q", name, err, want)
		}
	}
	if _, err := project.FindVendorDir(top, "vendor", filepath.Join(top, ".terraform")); err != nil {
		t.Errorf("FindVendorDir in the top directory: %v", err)
	}
	alone := t.TempDir()
	if _, err := project.FindVendorDir(alone, "../vendor", filepath.Join(alone, ".terraform")); err == nil {
		t.Error("FindVendorDir beside a root module that is in no repository: no error")
	}
}

func TestCommitVendored(t *testing.T) {
	t.Parallel()
	_, root := repository(t)
	first, err := commit(t, root, "vendor", map[string]string{"a": "# a\n", "b": "# b\n", "c": "# c\n"}, "a", "b", "c")
	testenv.Must(t, err)
	// Simulate a process that was killed during a change, after it had retired a package.
	testenv.WriteFile(t, filepath.Join(root, "vendor/.cotter/stage-X/a/main.tf"), "# half\n")
	testenv.Must(t, os.Mkdir(filepath.Join(root, "vendor/.cotter/retired-X"), 0o755))
	testenv.Must(t, os.Rename(filepath.Join(root, "vendor/b"), filepath.Join(root, "vendor/.cotter/retired-X/b")))
	testenv.WriteFile(t, filepath.Join(root, "vendor/notes.txt"), "mine\n")
	if got := inspect(t, root, "vendor", first["b"]).Status; got != packagedir.Missing {
		t.Errorf("a package that was retired has status %v, want Missing", got)
	}
	second, err := commit(t, root, "vendor", map[string]string{"b": "# b\n", "a": "# new\n"}, "a", "b")
	testenv.Must(t, err)
	for _, entry := range second {
		if got := inspect(t, root, "./vendor", entry); got.Status != packagedir.Verified {
			t.Errorf("%s after the second change: %+v", entry.Key, got)
		}
	}
	d := vendorDir(t, root, "./vendor")
	if diff := cmp.Diff([]string{"a", "b"}, d.Keys()); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
	if removed, err := d.Removed([]string{"a"}); err != nil || !cmp.Equal(removed, []string{"b"}) {
		t.Errorf("Removed = %q, %v", removed, err)
	}
	names, err := filepath.Glob(filepath.Join(root, "vendor/.cotter/*"))
	if err != nil || len(names) != 2 {
		t.Errorf(".cotter has %q, want the record and the sums", names)
	}
	if _, err := os.Stat(filepath.Join(root, "vendor/notes.txt")); err != nil {
		t.Errorf("a file of others: %v", err)
	}
}

// TestVendorRefusals checks that files that are not vendored packages are never replaced or removed.
func TestVendorRefusals(t *testing.T) {
	t.Parallel()
	top, root := repository(t)
	testenv.WriteFile(t, filepath.Join(root, "mine/main.tf"), "# mine\n")
	var notOurs *project.NotOursError
	if _, err := commit(t, root, "mine", nil); !errors.As(err, &notOurs) {
		t.Errorf("a directory of others: %v", err)
	}
	if _, err := commit(t, root, "../vendor", map[string]string{"a": "# a\n"}, "a"); err != nil {
		t.Fatal(err)
	}
	testenv.WriteFile(t, filepath.Join(top, "vendor/b/main.tf"), "# mine\n")
	if _, err := commit(t, root, "../vendor", map[string]string{"b": "# b\n"}, "a", "b"); !errors.As(err, &notOurs) || notOurs.Dir != "../vendor/b" {
		t.Errorf("a package in the place of a directory of others: %v", err)
	}
	if _, err := commit(t, root, "../vendor", map[string]string{"A": "# A\n"}, "a", "A"); err == nil || !strings.Contains(err.Error(), "upper from lower case") {
		t.Errorf("keys that differ in case: %v", err)
	}
	other := filepath.Join(top, "other")
	testenv.Must(t, os.Mkdir(other, 0o755))
	if _, err := commit(t, other, "../vendor", nil); !errors.As(err, &notOurs) || notOurs.Root != "../root" {
		t.Errorf("the directory of another root module: %v", err)
	}
	// A change that is closed without a commit leaves no files.
	p := at{dir: root, key: userkey.Random()}.open(t)
	p.SetVendorDir(vendorDir(t, root, "new/modules"))
	staged, err := p.StageVendored("a")
	testenv.Must(t, err)
	testenv.WriteFile(t, filepath.Join(staged, "main.tf"), "")
	testenv.Must(t, p.Close())
	if _, err := os.Lstat(filepath.Join(root, "new/modules")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a change that was not made left its directory: %v", err)
	}
}

// A repository can have a link in the place of the sums. Nothing is moved in its target.
func TestVendorSumsLink(t *testing.T) {
	t.Parallel()
	_, root := repository(t)
	if _, err := commit(t, root, "vendor", map[string]string{"a": "# a\n"}, "a"); err != nil {
		t.Fatal(err)
	}
	testenv.WriteFile(t, filepath.Join(root, "vendor/notes/mine.txt"), "mine\n")
	sums := filepath.Join(root, "vendor/.cotter/sums")
	testenv.Must(t, os.RemoveAll(sums))
	if err := os.Symlink("../notes", sums); err != nil {
		t.Skip("the file system has no links")
	}
	if _, err := commit(t, root, "vendor", map[string]string{"a": "# new\n"}, "a"); err == nil {
		t.Error("Commit with a link in the place of the sums: no error")
	}
	for name, want := range map[string]string{"notes/mine.txt": "mine\n", "a/main.tf": "# a\n"} {
		if got, err := os.ReadFile(filepath.Join(root, "vendor", name)); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v; want %q", name, got, err, want)
		}
	}
}

// TestVendorChangedAfterKill lets other programs change the directory of vendored packages after
// a change was killed. The rest of the change is always undone.
func TestVendorChangedAfterKill(t *testing.T) {
	retired, replaced := isAbsent("vendor/a"), func(a at) bool { return !isAbsent("vendor/b")(a) }
	for name, test := range map[string]struct {
		killed func(at) bool
		do     func(t *testing.T, a at)
		want   map[string]string
	}{
		"git restores a package that was retired": {
			killed: retired,
			do:     func(t *testing.T, a at) { a.write(t, "vendor/a/main.tf", "# old\n") },
			want:   vendoredBefore,
		},
		"git restores a package that was replaced": {
			killed: replaced,
			do:     func(t *testing.T, a at) { a.write(t, "vendor/a/main.tf", "# old\n") },
			want:   vendoredBefore,
		},
		"git restores all files": {killed: replaced, do: resetVendored, want: vendoredBefore},
		"the directory is gone":  {killed: retired, do: removeVendored, want: map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			a := killUntil(t, oldVendored, test.killed)
			test.do(t, a)
			files := a.reopened(t)
			if diff := cmp.Diff(test.want, vendoredFiles(files)); diff != "" {
				t.Errorf("vendored packages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, withoutVendored(files)); diff != "" {
				t.Errorf("the rest of the project (-want +got):\n%s", diff)
			}
		})
	}
}

func removeVendored(t *testing.T, a at) {
	t.Helper()
	testenv.Must(t, os.RemoveAll(filepath.Join(a.dir, "vendor")))
}

func resetVendored(t *testing.T, a at) {
	t.Helper()
	for _, name := range []string{".cotter/stage-*", ".cotter/retired-*", "b", ".cotter/sums/t1-new"} {
		found, err := filepath.Glob(filepath.Join(a.dir, "vendor", name))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %q, %v", name, found, err)
		}
		testenv.Must(t, os.RemoveAll(found[0]))
	}
	for name, text := range vendoredBefore {
		a.write(t, name, text)
	}
}

// A change is not undone through a link that was put in the place of the vendored packages.
func TestVendorLinkedAfterKill(t *testing.T) {
	a := killUntil(t, oldVendored, isAbsent("vendor/a"))
	testenv.Must(t, os.Rename(filepath.Join(a.dir, "vendor"), filepath.Join(a.dir, "elsewhere")))
	if err := os.Symlink("elsewhere", filepath.Join(a.dir, "vendor")); err != nil {
		t.Skip("the file system has no links")
	}
	elsewhere := func(files map[string]string) map[string]string {
		maps.DeleteFunc(files, func(name, _ string) bool { return !strings.HasPrefix(name, "elsewhere/") })
		return files
	}
	want := elsewhere(a.files(t, true))
	if diff := cmp.Diff(want, elsewhere(a.reopened(t))); diff != "" {
		t.Errorf("the target of the link (-before +after):\n%s", diff)
	}
}

func (a at) reopened(t testing.TB) map[string]string {
	t.Helper()
	a.vendored = notVendored
	testenv.Must(t, a.open(t).Close())
	return a.files(t, true)
}

func FuzzParseVendorRecord(f *testing.F) {
	f.Add([]byte("# comment\nroot ../..\npackage a\npackage b.c\n"))
	f.Add([]byte("root .\npackage ../x\n"))
	f.Add([]byte("root a\r\r\npackage a\r\r\n"))
	f.Add([]byte("root a\nroot b\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		text, err := project.ParseVendorRecord(src)
		if err != nil {
			return
		}
		if roots := strings.Count("\n"+string(src), "\nroot "); roots != 1 {
			t.Errorf("the record %q has %d root modules", src, roots)
		}
		for line := range strings.Lines(string(text)) {
			if key, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "package "); ok && (!filepath.IsLocal(key) || strings.Contains(key, "/") || key[0] == '.') {
				t.Errorf("the record %q has the key %q", src, key)
			}
		}
		if again, err := project.ParseVendorRecord(text); err != nil || string(again) != string(text) {
			t.Errorf("%q is written as %q, which gives %q, %v", src, text, again, err)
		}
	})
}
