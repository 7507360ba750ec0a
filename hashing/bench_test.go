package hashing_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/hashing"
)

func BenchmarkDir(b *testing.B) {
	fsys := fstest.MapFS{}
	for i := range 1000 {
		fsys[fmt.Sprintf("modules/m%02d/file%d.tf", i%100, i)] = file(strings.Repeat(fmt.Sprintf("# %05d\n", i), 1000))
	}
	dir := onDisk(b, fsys)
	b.SetBytes(8 * 1000 * 1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hashing.Dir(b.Context(), dir); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPart(b *testing.B) {
	fsys := fstest.MapFS{}
	for i := range 1000 {
		fsys[fmt.Sprintf("modules/m%03d/main.tf", i)] = file("x")
	}
	tree := readTree(b, fsys)
	b.ReportAllocs()
	for b.Loop() {
		for i := range 1000 {
			if len(tree.Part(fmt.Sprintf("modules/m%03d", i))) != 1 {
				b.Fatal("a directory has not one file")
			}
		}
	}
}
