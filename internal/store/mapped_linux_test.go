package store_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A file can be changed through mapped memory without a change of its times, so the state of files
// that another program may have mapped proves nothing.
func TestMappedFile(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, outside, files)
	file, err := os.OpenFile(filepath.Join(outside, "terraform-provider-x"), os.O_RDWR, 0)
	must(t, err)
	defer file.Close()
	mapped, err := syscall.Mmap(int(file.Fd()), 0, len(files["terraform-provider-x"]), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	must(t, err)
	defer func() { _ = syscall.Munmap(mapped) }()
	mapped[0] = '!' // the page is dirty from now on

	d := linked(t, openProviders(t, t.TempDir()), outside)
	before := d.Inspect(t.Context(), at, false)
	must(t, before.Err)
	mapped[0] = '?'
	if after := d.Inspect(t.Context(), at, false); after.Err != nil || after.H1 == before.H1 || after.H1 != hash(t, outside) {
		t.Errorf("after a change through mapped memory, Inspect = %+v, want %s", after, hash(t, outside))
	}
}
