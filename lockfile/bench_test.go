package lockfile_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

func lockOf(n int) *lockfile.File {
	var file lockfile.File
	for i := range n {
		m := testModule(fmt.Sprintf("app.module-%06d", i))
		m.Package = testenv.Package("git::https://example.com/vpc.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0")
		file.SetModule(m)
	}
	return &file
}

// The time for each module must be the same for 1,000 modules as for 10,000.
func BenchmarkParse(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			src := lockOf(n).Bytes()
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				parse(b, src, "x")
			}
		})
	}
}

func BenchmarkSetAndBytes(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			src := lockOf(n).Bytes()
			b.SetBytes(int64(len(src)))
			file := parse(b, src, "x")
			modules := file.Modules()
			b.ReportAllocs()
			for b.Loop() {
				for _, m := range modules {
					m.Version = versions.MustParse("1.0.1")
					file.SetModule(m)
				}
				file.Bytes()
			}
		})
	}
}

func BenchmarkFile(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			root, err := os.OpenRoot(b.TempDir())
			testenv.Must(b, err)
			defer root.Close()
			file := lockOf(n)
			changed := file.Modules()[n/2]
			b.SetBytes(int64(len(file.Bytes())))
			for i := 0; b.Loop(); i++ {
				changed.Version = versions.MustParse(fmt.Sprintf("1.0.%d", i))
				file.SetModule(changed)
				if _, err := file.WriteFile(root, ".terraform.lock.hcl"); err != nil {
					b.Fatal(err)
				}
				if file, err = lockfile.ReadFile(root, ".terraform.lock.hcl"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
