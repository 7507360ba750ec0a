package packagedir_test

import (
	"os"
	"path/filepath"
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

// vendored creates a root module with a vendored package "a", and returns the path of the root
// module and the package's entry.
func vendored(t *testing.T) (root string, entry lockfile.Module) {
	t.Helper()
	root = t.TempDir()
	location := project.Location{Dir: root, DataDir: filepath.Join(root, ".terraform"), LockFile: ".terraform.lock.hcl"}
	p, err := project.Open(t.Context(), location, userkey.Random(), nil)
	testenv.Must(t, err)
	p.SetVendorDir(vendorDir(t, root))
	staged, err := p.StageVendored("a")
	testenv.Must(t, err)
	testenv.WriteFile(t, filepath.Join(staged, "main.tf"), "# a\n")
	testenv.Must(t, os.Mkdir(filepath.Join(staged, "empty"), 0o755))
	tree, err := store.ReadTree(t.Context(), staged)
	testenv.Must(t, err)
	sums, err := tree.MarshalText()
	testenv.Must(t, err)
	change := project.Change{Manifest: []byte("{}"), Vendor: &project.VendorChange{
		Staged: []string{"a"}, Keep: []string{"a"}, Sums: map[string][]byte{store.FileName(tree.T1()): sums},
	}}
	testenv.Must(t, p.Commit(change))
	testenv.Must(t, p.Close())
	return root, lockfile.Module{Key: "a", Hashes: []hashing.Hash{tree.H1(), tree.T1()}}
}

func vendorDir(t *testing.T, root string) *project.VendorDir {
	t.Helper()
	d, err := project.FindVendorDir(root, "vendor", filepath.Join(root, ".terraform"))
	testenv.Must(t, err)
	return d
}

func TestInspectVendored(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do     func(t *testing.T, dir string)
		status packagedir.Status
		want   hashing.Changes
	}{
		"as it was": {do: func(*testing.T, string) {}, status: packagedir.Verified},
		"git keeps no empty directories": {
			do:     func(t *testing.T, dir string) { remove(t, dir, "a/empty") },
			status: packagedir.Verified,
		},
		"a file was added": {
			do:     func(t *testing.T, dir string) { testenv.WriteFile(t, filepath.Join(dir, "a/notes.txt"), "") },
			status: packagedir.Changed, want: hashing.Changes{Added: []string{"notes.txt"}},
		},
		"a file was changed": {
			do:     func(t *testing.T, dir string) { testenv.WriteFile(t, filepath.Join(dir, "a/main.tf"), "# evil\n") },
			status: packagedir.Changed, want: hashing.Changes{Changed: []string{"main.tf"}},
		},
		"a file was removed": {
			do:     func(t *testing.T, dir string) { remove(t, dir, "a/main.tf") },
			status: packagedir.Changed, want: hashing.Changes{Vanished: []string{"main.tf"}},
		},
		"a link leaves the package": {
			do:     func(t *testing.T, dir string) { link(t, "../../../secret", filepath.Join(dir, "a/link.tf")) },
			status: packagedir.Changed, want: hashing.Changes{Added: []string{"link.tf"}},
		},
		"the package is a link": {
			do: func(t *testing.T, dir string) {
				testenv.Must(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "../elsewhere")))
				link(t, "../elsewhere", filepath.Join(dir, "a"))
			},
			status: packagedir.Changed,
		},
		"the sums are gone, and a file was changed": {
			do: func(t *testing.T, dir string) {
				remove(t, dir, ".cotter")
				testenv.WriteFile(t, filepath.Join(dir, "a/main.tf"), "# evil\n")
			},
			status: packagedir.Changed,
		},
		"the sums are gone, and a link leaves the package": {
			do: func(t *testing.T, dir string) {
				remove(t, dir, ".cotter")
				link(t, "../../../secret", filepath.Join(dir, "a/link.tf"))
			},
			status: packagedir.Changed,
		},
		"the sums are gone": {
			do:     func(t *testing.T, dir string) { remove(t, dir, ".cotter") },
			status: packagedir.Verified,
		},
		"the sums are those of a changed file": {
			do:     forgeSums,
			status: packagedir.Changed,
		},
		"the package is gone": {
			do:     func(t *testing.T, dir string) { remove(t, dir, "a") },
			status: packagedir.Missing,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, entry := vendored(t)
			test.do(t, filepath.Join(root, "vendor"))
			dirs := packagedir.NewDirs(nil, root, "", "")
			dirs.SetVendor(vendorDir(t, root))
			got := dirs.Inspect(t.Context(), entry)
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
	testenv.WriteFile(t, filepath.Join(dir, "a/main.tf"), "# evil\n")
	tree, err := store.ReadTree(t.Context(), filepath.Join(dir, "a"))
	testenv.Must(t, err)
	text, err := tree.MarshalText()
	testenv.Must(t, err)
	names, err := filepath.Glob(filepath.Join(dir, ".cotter/sums/*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("sums: %q, %v", names, err)
	}
	testenv.WriteFile(t, names[0], string(text))
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	testenv.Must(t, os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))))
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skip("the file system has no links")
	}
}
