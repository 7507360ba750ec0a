package cotter_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/registryclient"
)

// BenchmarkInstall installs a small tree: with nothing at all (cold), with a
// lock and a cache (warm), and where everything is in place (again).
func BenchmarkInstall(b *testing.B) {
	world := modtest.New(b, modtest.Txtar(nested))
	for _, state := range []struct {
		name string
		gone []string // what an installation starts without
	}{
		{"cold", []string{"project/.terraform", "project/.terraform.lock.hcl", "cache"}},
		{"warm", []string{"project/.terraform"}},
		{"again", nil},
	} {
		b.Run(state.name, func(b *testing.B) {
			dir := b.TempDir()
			project := filepath.Join(dir, "project")
			if err := world.WriteTree(project, "config"); err != nil {
				b.Fatal(err)
			}
			install := func() {
				client := world.HTTPClient()
				cache := filepath.Join(dir, "cache")
				in := cotter.Installer{
					Registry: &registryclient.Client{Services: &disco.Client{HTTPClient: client}, HTTPClient: client},
					Fetcher:  &getmodules.Fetcher{HTTPClient: client, CacheDir: cache, Git: getmodules.Git{Env: append(os.Environ(), world.Env()...)}},
					CacheDir: cache,
				}
				if _, err := in.Install(context.Background(), cotter.Request{Dir: project}); err != nil {
					b.Fatal(err)
				}
			}
			install()
			for b.Loop() {
				b.StopTimer()
				for _, name := range state.gone {
					if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				install()
			}
		})
	}
}
