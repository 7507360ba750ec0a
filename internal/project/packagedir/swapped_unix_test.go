//go:build unix

package packagedir_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/packagedir"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/internal/testenv"
)

// Another process replaces a directory on the way to the staging directory by a link to outside of the project, after that
// was opened. Nothing appears outside, whether a package is copied, or linked with private directories.
func TestStageSwapped(t *testing.T) {
	key := userkey.Random()
	cache, err := store.OpenModules(t.TempDir(), key)
	testenv.Must(t, err)
	t.Cleanup(func() { testenv.Must(t, cache.Close()) })
	staged := cache.Stage()
	testenv.WriteFiles(t, staged, map[string]string{"main.tf": "# a\n", "shared/main.tf": "# b\n", "own/main.tf": "# c\n"})
	tree, err := hashing.ReadTree(t.Context(), os.DirFS(staged))
	testenv.Must(t, err)
	testenv.Must(t, cache.Publish(staged, tree.T1()))

	for _, swapped := range []string{".terraform", ".terraform/modules", ".terraform/modules/.cotter", ".terraform/modules/.cotter/stage"} {
		for _, linked := range []bool{false, true} {
			root, outside := t.TempDir(), t.TempDir()
			p, err := project.Open(t.Context(), project.Location{Dir: root, DataDir: filepath.Join(root, ".terraform"), LockFile: ".terraform.lock.hcl"}, key, nil)
			testenv.Must(t, err)
			stage := &packagedir.Stage{Project: p, Cache: cache, KeepsModes: true, Slot: func(context.Context) (func(), error) { return func() {}, nil }}
			below, err := filepath.Rel(filepath.Join(root, filepath.FromSlash(swapped)), filepath.Dir(p.StagePath("a")))
			testenv.Must(t, err)
			testenv.Must(t, os.MkdirAll(filepath.Join(outside, below), 0o755)) // as if it was the staging directory
			swap := func() {
				path := filepath.Join(root, filepath.FromSlash(swapped))
				testenv.Must(t, os.Rename(path, path+".away"))
				testenv.Must(t, os.Symlink(outside, path))
			}
			if linked {
				shared, err := stage.Shared(t.Context(), tree.T1())
				testenv.Must(t, err)
				source := filepath.Join(t.TempDir(), "shared") // that is not in the project, for what follows
				testenv.Must(t, os.CopyFS(source, os.DirFS(shared.Path)))
				shared.Path = source
				swap()
				_, _, _ = stage.Link(t.Context(), "a", shared, []string{"own"})
			} else {
				atomicfile.SetStepHook(func(name string) error {
					if name == "project.package.copy" {
						swap()
					}
					return nil
				})
				_, _, _ = stage.Copy(t.Context(), "a", tree.T1())
				atomicfile.SetStepHook(nil)
			}
			_ = p.Close()
			found := testenv.Files(t, outside)
			if len(found) > 0 {
				t.Errorf("%s, linked %v: outside there is %v", swapped, linked, found)
			}
		}
	}
}
