package inprocess_test

import (
	"bytes"
	"testing"

	"github.com/cotterpin/cotter/internal/git/gittest"
	"github.com/cotterpin/cotter/internal/git/inprocess"
)

// TestReadDamaged cuts a pack off at every byte and changes every bit of it. All of these
// packs must be refused.
func TestReadDamaged(t *testing.T) {
	t.Parallel()
	var b gittest.Pack
	base := b.Blob("hello world\n")
	steps := []byte{12, 12, 0x91, 6, 6, 1, '!', 0x90, 5}
	b.Delta(base, steps)
	pack := b.Pack()
	for n := range pack {
		if _, err := readAll(bytes.NewReader(pack[:n]), t.TempDir(), limits); err == nil {
			t.Errorf("Read of the first %d bytes of %d = nil error", n, len(pack))
		}
		for bit := range 8 {
			damaged := bytes.Clone(pack)
			damaged[n] ^= 1 << bit
			if _, err := readAll(bytes.NewReader(damaged), t.TempDir(), limits); err == nil {
				t.Errorf("Read with bit %d of byte %d changed = nil error", bit, n)
			}
		}
	}
	if _, err := readAll(bytes.NewReader(append(bytes.Clone(pack), 0)), t.TempDir(), limits); err == nil {
		t.Error("Read with a byte behind the pack = nil error")
	}
}

// TestReadResealed changes every bit of a pack and then corrects the checksum, as an
// attacker would. An object that is found under a name must have the content that belongs
// to that name.
func TestReadResealed(t *testing.T) {
	t.Parallel()
	const text = "hello world\n"
	var b gittest.Pack
	base := b.Blob(text)
	steps := []byte{12, 12, 0x91, 6, 6, 1, '!', 0x90, 5}
	b.Delta(base, steps)
	pack := b.Pack()
	body := pack[:len(pack)-20]
	for n := range body {
		for bit := range 8 {
			damaged := bytes.Clone(body)
			damaged[n] ^= 1 << bit
			objects, err := readAll(bytes.NewReader(gittest.SealPack(damaged)), t.TempDir(), limits)
			if err != nil {
				continue
			}
			for _, want := range []string{text, "world\n!hello"} {
				got, err := objects.Read(blobName(want))
				if err != nil || got != nil && string(got) != want {
					t.Errorf("bit %d of byte %d: the object %q is %q, %v", bit, n, want, got, err)
				}
			}
		}
	}
}

func FuzzPackStream(f *testing.F) {
	var b gittest.Pack
	base := b.Blob("hello world\n")
	f.Add(b.Bytes(), uint32(1))
	steps := []byte{12, 12, 0x91, 6, 6, 1, '!', 0x90, 5}
	b.Delta(base, steps)
	f.Add(b.Bytes(), uint32(2))
	b.Add(7, len(steps), make([]byte, 20), steps)
	f.Add(b.Bytes(), uint32(3))
	small := inprocess.PackLimits{Objects: 100, ObjectBytes: 1 << 16, TotalBytes: 1 << 18, MemoryBytes: 1 << 18}
	f.Fuzz(func(t *testing.T, entries []byte, count uint32) {
		b := gittest.Pack{Count: int(count)}
		b.Write(entries)
		objects, err := readAll(bytes.NewReader(b.Pack()), "", small)
		if err != nil {
			return
		}
		if size, _ := objects.Wait(); objects.Len() != int(count) || size != int64(len(entries)+32) {
			t.Errorf("%d objects in %d bytes, want %d in %d", objects.Len(), size, count, len(entries)+32)
		}
		if err := objects.Close(); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	_, pack, _ := gitPack(b)
	b.SetBytes(int64(len(pack)))
	for b.Loop() {
		objects, err := readAll(bytes.NewReader(pack), b.TempDir(), limits)
		if err != nil {
			b.Fatal(err)
		}
		objects.Close()
	}
}
