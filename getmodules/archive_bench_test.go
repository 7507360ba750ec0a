package getmodules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

// BenchmarkExtractArchive unpacks packages of 500 and 5,000 files of 2 KB each. It reports
// the time per file, which must be the same for both.
func BenchmarkExtractArchive(b *testing.B) {
	for _, n := range []int{500, 5_000} {
		for kind, archive := range benchArchives(b, n) {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				file := filepath.Join(b.TempDir(), "archive")
				if err := os.WriteFile(file, archive, 0o600); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(n * benchFileSize))
				b.ReportAllocs()
				for b.Loop() {
					extractOnce(b, file, kind)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/file")
			})
		}
	}
}

const benchFileSize = 2 << 10

func benchArchives(b *testing.B, n int) map[string][]byte {
	var zips []*zipRaw
	var tars []tarRaw
	for i := range n {
		name := fmt.Sprintf("modules/m%d/f%d.tf", i%(n/10), i)
		text := strings.Repeat(fmt.Sprintf("# %013d\n", i), benchFileSize/16)
		zips, tars = append(zips, rawFile(name, text)), append(tars, tarFile(name, text))
	}
	return map[string][]byte{"zip": newZip(zips...).bytes(), "tar.gz": gzipped(tarOf(b, tars...))}
}

// extractOnce extracts an archive and removes the result. The removal is not part of the
// measured time.
func extractOnce(b *testing.B, archive, kind string) {
	b.Helper()
	file, err := os.Open(archive)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	dir := filepath.Join(filepath.Dir(archive), "tree")
	if _, err := getmodules.ExtractArchive(b.Context(), file, kind, dir, getmodules.Limits{}); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	defer b.StartTimer()
	if err := os.RemoveAll(dir); err != nil {
		b.Fatal(err)
	}
}
