//go:build unix

package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/testenv"
)

// If another process replaces a directory by a link to outside of the project, after it was looked at, opening the project
// fails and creates nothing there.
func TestOpenSwapped(t *testing.T) {
	dirs := []string{".terraform", ".terraform/modules", ".terraform/modules/.cotter"}
	for at, swapped := range dirs {
		a := newAt(t)
		outside := t.TempDir()
		path := filepath.Join(a.dir, filepath.FromSlash(swapped))
		testenv.Must(t, os.MkdirAll(filepath.Join(a.dir, filepath.FromSlash(dirs[2])), 0o755))
		steps := 0
		atomicfile.SetStepHook(func(string) error {
			if steps++; steps == at+1 {
				testenv.Must(t, os.Rename(path, path+".away"))
				testenv.Must(t, os.Symlink(outside, path))
			}
			return nil
		})
		p, err := project.Open(t.Context(), a.location(), a.key, nil)
		atomicfile.SetStepHook(nil)
		if err == nil {
			t.Errorf("%s: the project was opened", swapped)
			testenv.Must(t, p.Close())
		}
		if found, err := os.ReadDir(outside); err != nil || len(found) > 0 {
			t.Errorf("%s: outside there is %v, %v", swapped, found, err)
		}
	}
}
