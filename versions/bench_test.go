package versions_test

import (
	"fmt"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

// manyCandidates returns n versions, of which every tenth is a pre-release.
func manyCandidates(n int) []versions.Candidate {
	refs := make([]string, n)
	for i := range refs {
		refs[i] = fmt.Sprintf("v%d.%d.%d", i/2500, i/50%50, i%50)
		if i%10 == 0 {
			refs[i] += "-rc.1"
		}
	}
	return candidates(refs...)
}

// BenchmarkSelect selects a version that exists among many, and one that does not, which sorts
// all versions for the error message. It reports the time for each version, which must be the
// same for 5,000 as for 50,000.
func BenchmarkSelect(b *testing.B) {
	for _, test := range []struct {
		name, constraint string
		found            bool
	}{{"found", ">= 0.5.0, < 19.0.0", true}, {"none", ">= 99.0.0", false}} {
		want, err := versions.ParseConstraints(test.constraint)
		testenv.Must(b, err)
		for _, n := range []int{5_000, 50_000} {
			offered := manyCandidates(n)
			b.Run(fmt.Sprintf("%s/%d", test.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, err := versions.Select(offered, want)
					if found := err == nil; found != test.found {
						b.Fatal(err)
					}
					if err != nil && err.Error() == "" {
						b.Fatal("no message")
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/version")
			})
		}
	}
}

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
