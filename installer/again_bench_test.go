package installer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

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
			dir := b.TempDir()
			project, cache, state := filepath.Join(dir, "project"), filepath.Join(dir, "cache"), filepath.Join(dir, "state")
			testenv.Must(b, world.WriteTree(project, "config"))
			install := func() {
				in := installer.New(installer.Options{CacheDir: cache, StateDir: state, Fetcher: &getmodules.Fetcher{HTTPClient: world.HTTPClient(), CacheDir: cache,
					Git: getmodules.Git{Env: append(os.Environ(), world.Env()...)}}})
				if _, err := in.Install(context.Background(), installer.Project{Dir: project}, installer.InstallOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			install()
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
