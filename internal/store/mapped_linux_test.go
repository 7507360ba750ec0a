package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/store"
)

func mapFile(t *testing.T, name string) (*os.File, []byte) {
	t.Helper()
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	must(t, err)
	mapped, err := syscall.Mmap(int(file.Fd()), 0, len(files["terraform-provider-x"]), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	must(t, err)
	t.Cleanup(func() { _, _ = syscall.Munmap(mapped), file.Close() })
	return file, mapped
}

// A file can be changed through mapped memory without a change of its times, so the state of files
// that another program may have mapped proves nothing.
func TestMappedFile(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, outside, files)
	_, mapped := mapFile(t, filepath.Join(outside, "terraform-provider-x"))
	mapped[0] = '!' // the page is dirty from now on

	d := linked(t, openProviders(t, t.TempDir()), outside)
	before := d.Inspect(t.Context(), at, false)
	must(t, before.Err)
	mapped[0] = '?'
	if after := d.Inspect(t.Context(), at, false); after.Err != nil || after.H1 == before.H1 || after.H1 != hash(t, outside) {
		t.Errorf("after a change through mapped memory, Inspect = %+v, want %s", after, hash(t, outside))
	}
}

// A package in a shared cache to whose files other users may write proves nothing, also after its
// files were made read-only: another user may have mapped one before.
func TestMappedFileOfStore(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	pkg := publishProvider(t, openProviders(t, cache))
	name := filepath.Join(pkg.Dir(), "terraform-provider-x")
	must(t, os.Chmod(name, 0o775))
	file, mapped := mapFile(t, name)
	mapped[0] = '!' // the page is dirty from now on
	must(t, file.Chmod(0o775))
	mapped[0] = files["terraform-provider-x"][0]
	for range 2 {
		if found, err := openProviders(t, cache).Find(t.Context(), pkg.H1); err != nil || found == nil {
			t.Fatalf("Find = %v, %v", found, err)
		}
	}
	mapped[0] = '!'
	if found, err := openProviders(t, cache).Find(t.Context(), pkg.H1); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("after a change through mapped memory, Find = %v, %v; want ErrDamaged", found, err)
	}
}
