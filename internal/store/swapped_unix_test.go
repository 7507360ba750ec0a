//go:build unix

package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/testenv"
)

// While another process swaps a directory for a link to outside of the project, a package is installed in the project or
// not at all, and nothing appears or vanishes outside.
func TestSwappedDirectories(t *testing.T) {
	t.Parallel()
	s := openProviders(t, t.TempDir())
	pkg := publishProvider(t, s)
	for name, swapped := range map[string]string{
		"the data directory":      ".terraform",
		"the providers directory": ".terraform/providers",
		"the own directory":       ".terraform/providers/.cotter",
		"a parent":                ".terraform/providers/example.com",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, outside := t.TempDir(), t.TempDir()
			// What is there looks like what the run would find in its own directory.
			for _, below := range []string{"providers/.cotter/x", ".cotter/x", "x"} {
				testenv.WriteFile(t, filepath.Join(outside, below, "file"), "kept")
			}
			before := tree(t, outside)
			stop := testenv.Swap(filepath.Join(dir, filepath.FromSlash(swapped)), outside)
			for range 60 {
				for _, layout := range []store.Layout{store.LayoutLink, store.LayoutCopy} {
					d, err := s.Dir(filepath.Join(dir, ".terraform", "providers"))
					if err != nil {
						continue
					}
					_, _ = d.Install(t.Context(), pkg, at, layout)
					_ = d.Close()
				}
			}
			stop()
			if after := tree(t, outside); len(after) != len(before) {
				t.Errorf("outside there is %q, want %q", after, before)
			}
		})
	}
}

// Another process replaces a parent of a package by a link to another directory of the providers, right before the package
// is moved there. It is in neither.
func TestSwappedWithinProviders(t *testing.T) {
	s := openProviders(t, t.TempDir())
	pkg := publishProvider(t, s)
	for _, step := range []string{"provider.place.retire", "provider.place.rename"} {
		for _, layout := range []store.Layout{store.LayoutLink, store.LayoutCopy} {
			dir := t.TempDir()
			parent, other := filepath.Join(dir, "example.com"), filepath.Join(dir, "other.example")
			testenv.WriteFile(t, filepath.Join(dir, at, "file"), "old")
			testenv.WriteFile(t, filepath.Join(other, filepath.FromSlash(at[len("example.com/"):]), "file"), "kept")
			before := tree(t, other)
			d, err := s.Dir(dir)
			testenv.Must(t, err)
			atomicfile.SetStepHook(func(name string) error {
				if name == step {
					testenv.Must(t, os.Rename(parent, parent+".away"))
					testenv.Must(t, os.Symlink("other.example", parent))
				}
				return nil
			})
			_, err = d.Install(t.Context(), pkg, at, layout)
			atomicfile.SetStepHook(nil)
			if err == nil {
				t.Errorf("swapped before %s: no error", step)
			}
			testenv.Must(t, d.Close())
			if diff := cmp.Diff(before, tree(t, other)); diff != "" {
				t.Errorf("swapped before %s, the other directory (-want +got):\n%s", step, diff)
			}
		}
	}
}
