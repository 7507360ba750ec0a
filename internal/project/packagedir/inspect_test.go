package packagedir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/packagedir"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

const modulesDir = ".terraform/modules"

// installed creates a project with the package "a", and returns it open, with the package's entry.
func installed(t *testing.T) (p *project.Project, root string, entry lockfile.Module) {
	t.Helper()
	root = t.TempDir()
	p, err := project.Open(t.Context(), project.Location{Dir: root, DataDir: filepath.Join(root, ".terraform"), LockFile: ".terraform.lock.hcl"}, userkey.Random(), nil)
	testenv.Must(t, err)
	t.Cleanup(func() { testenv.Must(t, p.Close()) })
	_, err = p.Stage()
	testenv.Must(t, err)
	staged := p.StagePath("a")
	testenv.WriteFile(t, filepath.Join(staged, "main.tf"), "# a\n")
	tree, err := store.ReadTree(t.Context(), staged)
	testenv.Must(t, err)
	sums, err := tree.MarshalText()
	testenv.Must(t, err)
	testenv.Must(t, p.SaveSums(store.FileName(tree.T1()), sums))
	testenv.Must(t, p.Commit(project.Change{Manifest: []byte("{}"), Packages: map[string]string{"a": staged}}))
	return p, root, lockfile.Module{Key: "a", Hashes: []hashing.Hash{tree.H1(), tree.T1()}}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do     func(t *testing.T, dir string) // in the modules directory
		status packagedir.Status
		want   hashing.Changes
	}{
		"as it was": {do: func(*testing.T, string) {}, status: packagedir.Verified},
		"a file was added, as modules do": {
			do:     func(t *testing.T, dir string) { testenv.WriteFile(t, filepath.Join(dir, "a/notes.txt"), "") },
			status: packagedir.Verified, want: hashing.Changes{Added: []string{"notes.txt"}},
		},
		"configuration was added": {
			do:     func(t *testing.T, dir string) { testenv.WriteFile(t, filepath.Join(dir, "a/more.tf"), "") },
			status: packagedir.Changed, want: hashing.Changes{Added: []string{"more.tf"}},
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
				remove(t, dir, ".cotter/sums")
				testenv.WriteFile(t, filepath.Join(dir, "a/main.tf"), "# evil\n")
			},
			status: packagedir.Changed,
		},
		"the sums are gone, and a link leaves the package": {
			do: func(t *testing.T, dir string) {
				remove(t, dir, ".cotter/sums")
				link(t, "../../../secret", filepath.Join(dir, "a/link.tf"))
			},
			status: packagedir.Changed,
		},
		"the sums are gone": {
			do:     func(t *testing.T, dir string) { remove(t, dir, ".cotter/sums") },
			status: packagedir.Verified,
		},
		"the sums are those of a changed file": {do: forgeSums, status: packagedir.Changed},
		"the package is gone": {
			do:     func(t *testing.T, dir string) { remove(t, dir, "a") },
			status: packagedir.Missing,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, root, entry := installed(t)
			dir := filepath.Join(root, modulesDir)
			test.do(t, dir)
			got := packagedir.NewDirs(p, root, modulesDir, dir).Inspect(t.Context(), entry)
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
