package workdir

import (
	"bytes"
	"path"

	"github.com/cotterpin/cotter/internal/atomicfile"
)

// Sums reads the sums that were saved under name. It is fs.ErrNotExist where
// there are none.
func (d *Dir) Sums(name string) ([]byte, error) {
	return d.root.ReadFile(path.Join(sumsName, name))
}

// SaveSums keeps sums under name. Sums that are there already are left alone.
// Whoever reads them compares them with a hash of the lock.
func (d *Dir) SaveSums(name string, sums []byte) error {
	if err := d.root.MkdirAll(sumsName, 0o777); err != nil {
		return err
	}
	file := path.Join(sumsName, name)
	if now, err := d.root.ReadFile(file); err == nil && bytes.Equal(now, sums) {
		return nil
	}
	return atomicfile.Write(d.root, file, sums, atomicfile.Options{Disposable: true})
}

// KeepSums removes the saved sums whose names are not in keep.
func (d *Dir) KeepSums(keep map[string]bool) error { return d.keepOnly(sumsName, keep) }
