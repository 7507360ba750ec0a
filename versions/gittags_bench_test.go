package versions_test

import (
	"fmt"
	"testing"

	"github.com/cotterpin/cotter/versions"
)

// BenchmarkFromGitTags parses the versions in the tags of a large repository. It reports the time
// for each tag, which must be the same for 5,000 tags as for 50,000.
func BenchmarkFromGitTags(b *testing.B) {
	for _, n := range []int{5_000, 50_000} {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("v%d.%d.%d", i/2500, i/50%50, i%50)
		}
		list := tags(names...)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := versions.FromGitTags(list, "modules/network"); len(got) != n {
					b.Fatalf("%d candidates, want %d", len(got), n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/tag")
		})
	}
}
