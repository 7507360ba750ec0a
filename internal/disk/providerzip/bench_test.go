package providerzip_test

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/testenv"
)

// BenchmarkUnpack unpacks a package of 24 MB. Two thirds of it are zeros, which is typical of
// real executables.
func BenchmarkUnpack(b *testing.B) {
	content := make([]byte, 24<<20)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(content[:8<<20])
	raw := bare(b, entry{name: "terraform-provider-x", content: string(content), mode: 0o755})
	for name, run := range map[string]func(b *testing.B, a *providerzip.Archive, dir string) error{
		"hash": func(b *testing.B, a *providerzip.Archive, _ string) error {
			_, err := a.Hash(b.Context())
			return err
		},
		"unpack": func(b *testing.B, a *providerzip.Archive, dir string) error {
			_, err := a.Unpack(b.Context(), dir)
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for i := 0; b.Loop(); i++ {
				a, err := providerzip.Open(bytes.NewReader(raw), int64(len(raw)), "x")
				testenv.Must(b, err)
				testenv.Must(b, run(b, a, filepath.Join(b.TempDir(), strconv.Itoa(i))))
			}
		})
	}
}
