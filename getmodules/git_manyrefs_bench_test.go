package getmodules_test

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/modtest"
)

// BenchmarkManyRefs uses a repository with 5,000 tags and 100,000 other refs. It lists the
// tags with the client in this process and with the installed git, and asks for a missing
// tag, whose error message searches the names of tags and branches. It reports the
// megabytes received, and the megabytes saved by asking only for refs with a prefix.
func BenchmarkManyRefs(b *testing.B) {
	const tags = 5_000
	world := modtest.NewWith(b, modtest.Txtar("-- git/many.git/v1.0.0/main.tf --\n# one\n"),
		modtest.Options{ManyRefs: 100_000, ManyTags: tags})
	all := wholeAdvertisement(b, world)
	list := func(b *testing.B, f *getmodules.Fetcher) {
		got, err := f.Tags(b.Context(), getmodules.Request{Package: addrs.ParseModulePackage(world.GitSource("many.git", ""))})
		if err != nil || len(got) != tags+1 {
			b.Fatalf("Tags = %d, %v; want %d", len(got), err, tags+1)
		}
	}
	miss := func(b *testing.B, f *getmodules.Fetcher) {
		_, _, err := fetchGit(b, f, getmodules.Request{Package: addrs.ParseModulePackage(world.GitSource("many.git", "?ref=1"))})
		if !errors.Is(err, getmodules.ErrRefNotFound) {
			b.Fatalf("Fetch = %v, want ErrRefNotFound", err)
		}
	}
	for _, test := range []struct {
		name      string
		alwaysGit bool
		ask       func(*testing.B, *getmodules.Fetcher)
	}{{"tags", false, list}, {"tags by git", true, list}, {"no such tag", true, miss}} {
		b.Run(test.name, func(b *testing.B) {
			f := &getmodules.Fetcher{HTTPClient: world.HTTPClient(), AlwaysGit: test.alwaysGit, CacheDir: b.TempDir(),
				Git: getmodules.Git{Env: append(os.Environ(), world.Env()...)}}
			before := world.BytesSent()
			for b.Loop() {
				test.ask(b, f)
			}
			each := float64(world.BytesSent()-before) / float64(b.N)
			b.ReportMetric(each/1e6, "MB-got/op")
			b.ReportMetric((float64(all)-each)/1e6, "MB-spared/op")
		})
	}
}

// wholeAdvertisement returns the size in bytes of the complete list of refs, which clients
// of the first protocol version receive.
func wholeAdvertisement(b *testing.B, world *modtest.World) int64 {
	b.Helper()
	before := world.BytesSent()
	answer, err := world.HTTPClient().Get(world.URL() + "/git/many.git/info/refs?service=git-upload-pack")
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		b.Fatal(err)
	}
	return world.BytesSent() - before
}
