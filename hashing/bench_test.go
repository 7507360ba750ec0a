package hashing_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/hashing"
)

// BenchmarkDir hashes 1,000 files of 8 KB in 100 directories.
func BenchmarkDir(b *testing.B) {
	fsys := fstest.MapFS{}
	for i := range 1000 {
		fsys[fmt.Sprintf("modules/m%02d/file%d.tf", i%100, i)] = file(strings.Repeat(fmt.Sprintf("# %05d\n", i), 1000))
	}
	dir := onDisk(b, fsys)
	b.SetBytes(8 * 1000 * 1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hashing.Dir(dir); err != nil {
			b.Fatal(err)
		}
	}
}
