package installer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// BenchmarkInstall installs a small tree in three states: without a lock or a cache (cold), with
// both (warm), and with everything in place (again).
func BenchmarkInstall(b *testing.B) {
	world := modtest.New(b, modtest.Txtar(nested))
	for _, state := range []struct {
		name string
		gone []string // removed before an installation
	}{
		{"cold", []string{"project/.terraform", "project/.terraform.lock.hcl", "cache"}},
		{"warm", []string{"project/.terraform"}},
		{"again", nil},
	} {
		b.Run(state.name, func(b *testing.B) {
			dir := b.TempDir()
			project := filepath.Join(dir, "project")
			testenv.Must(b, world.WriteTree(project, "config"))
			install := func() {
				in := installer.New(installer.Options{
					HTTPClient: world.HTTPClient(),
					Fetcher:    &getmodules.Fetcher{Git: getmodules.Git{Env: append(os.Environ(), world.Env()...)}},
					CacheDir:   filepath.Join(dir, "cache"),
					StateDir:   filepath.Join(dir, "state"),
				})
				_, err := in.Install(b.Context(), installer.Project{Dir: project}, installer.InstallOptions{})
				testenv.Must(b, err)
			}
			install()
			for n := 0; b.Loop(); n++ {
				b.StopTimer()
				// The files are moved away, not removed: after a removal, ext4 spends a long
				// time looking for inodes other than those that were just freed.
				for i, name := range state.gone {
					testenv.Must(b, os.Rename(filepath.Join(dir, name), filepath.Join(dir, fmt.Sprintf("gone-%d-%d", n, i))))
				}
				b.StartTimer()
				install()
			}
		})
	}
}
