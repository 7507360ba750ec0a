package installer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// BenchmarkInstall installs a small tree in three states: without a lock or a cache (cold), with
// both (warm), and with everything in place (again).
func BenchmarkInstall(b *testing.B) { benchmarkInstall(b, nested) }

// BenchmarkInstallMonorepo installs 100 calls of modules in one package of 20 MB.
func BenchmarkInstallMonorepo(b *testing.B) { benchmarkInstall(b, monorepo(100, 320)) }

// monorepo returns a world with calls into one package. In addition to the called modules, the
// package has the given number of files of 64 KiB.
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
		gone []string // removed before an installation
	}{
		{"cold", []string{"project/.terraform", "project/.terraform.lock.hcl", "cache"}},
		{"warm", []string{"project/.terraform"}},
		{"again", nil},
	} {
		b.Run(state.name, func(b *testing.B) {
			dir := b.TempDir()
			install := installIn(b, world, dir)
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

// installIn installs the project of a world below a directory, with a cache beside it, and returns a function
// that does so again.
func installIn(b *testing.B, world *modtest.World, dir string) (install func()) {
	b.Helper()
	project := filepath.Join(dir, "project")
	testenv.Must(b, world.WriteTree(project, "config"))
	install = func() {
		in := installer.New(installer.Options{
			HTTPClient: world.HTTPClient(),
			Fetcher:    &getmodules.Fetcher{Git: getmodules.Git{Env: append(os.Environ(), world.Env()...)}},
			CacheDir:   filepath.Join(dir, "cache"),
			StateDir:   filepath.Join(dir, "state"),
		})
		_, err := in.Install(context.Background(), installer.Project{Dir: project}, installer.InstallOptions{})
		testenv.Must(b, err)
	}
	install()
	return install
}

// BenchmarkNothingToDo installs projects whose modules are all in place, and verifies every
// hash. A project has n calls into packages of ten modules each. The benchmark reports the time
// for each call, which must be the same for 100 calls as for 1,000. (Packages with more modules
// take longer, because each called module has links to all others.)
func BenchmarkNothingToDo(b *testing.B) {
	for _, n := range []int{100, 1_000} {
		var tree strings.Builder
		tree.WriteString("-- config/main.tf --\n")
		for i := range n {
			fmt.Fprintf(&tree, "module \"m%d\" {\n  source = \"git::https://MODTEST_HOST/git/p%d.git//modules/m%d?ref=v1.0.0\"\n}\n", i, i/10, i%10)
		}
		for i := range n {
			fmt.Fprintf(&tree, "-- git/p%d.git/v1.0.0/modules/m%d/main.tf --\noutput \"n\" {\n  value = %d\n}\n", i/10, i%10, i)
		}
		world := modtest.New(b, modtest.Txtar(tree.String()))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			install := installIn(b, world, b.TempDir())
			world.ResetRequests()
			for b.Loop() {
				install()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/call")
			if asked := world.Requests(); len(asked) > 0 {
				b.Errorf("%d requests, first %v", len(asked), asked[0])
			}
		})
	}
}
