package cotter_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/registryclient"
)

// BenchmarkInstall installs a small tree: with nothing at all (cold), with a
// lock and a cache (warm), and where everything is in place (again).
func BenchmarkInstall(b *testing.B) { benchmarkInstall(b, nested) }

// BenchmarkInstallMonorepo has 100 calls of modules in one package of 20 MB.
func BenchmarkInstallMonorepo(b *testing.B) { benchmarkInstall(b, monorepo(100, 320)) }

// monorepo is a world with calls into one package, which has so many files of
// 64 KiB beside the modules.
func monorepo(calls, files int) string {
	var text strings.Builder
	text.WriteString("-- config/main.tf --\n")
	for i := range calls {
		fmt.Fprintf(&text, "module \"m%d\" {\n  source = \"git::https://MODTEST_HOST/git/mono.git//modules/m%d?ref=v1.0.0\"\n}\n", i, i)
	}
	for i := range calls {
		fmt.Fprintf(&text, "-- git/mono.git/v1.0.0/modules/m%d/main.tf --\noutput \"n\" {\n  value = %d\n}\n", i, i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range files {
		fmt.Fprintf(&text, "-- git/mono.git/v1.0.0/docs/d%d.txt --\n", i)
		for range 64 << 10 / 32 {
			fmt.Fprintf(&text, "%015x %015x\n", random.Uint64()>>4, random.Uint64()>>4)
		}
	}
	return text.String()
}

func benchmarkInstall(b *testing.B, text string) {
	world := modtest.New(b, modtest.Txtar(text))
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
					StateDir: filepath.Join(dir, "state"),
				}
				if _, err := in.Install(context.Background(), cotter.Request{Dir: project}); err != nil {
					b.Fatal(err)
				}
			}
			install()
			for n := 0; b.Loop(); n++ {
				b.StopTimer()
				// Moved away and not removed: for some seconds ext4 looks for
				// other inodes than those that have just become free, at length.
				for i, name := range state.gone {
					if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, fmt.Sprintf("gone-%d-%d", n, i))); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				install()
			}
		})
	}
}
