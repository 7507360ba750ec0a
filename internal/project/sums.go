package project

import (
	"bytes"
	"path"

	"github.com/cotterpin/cotter/internal/atomicfile"
)

// Sums reads the sums that were saved under name. It is fs.ErrNotExist if there
// are none. They are not proven: callers compare them with a hash of the lock.
func (p *Project) Sums(name string) ([]byte, error) {
	return atomicfile.Read(p.modules, path.Join(sumsName, name), maxSums)
}

// SaveSums keeps sums under name. Sums that are there already are left alone.
func (p *Project) SaveSums(name string, sums []byte) error {
	if now, err := p.Sums(name); err == nil && bytes.Equal(now, sums) {
		return nil
	}
	if err := p.modules.MkdirAll(sumsName, 0o777); err != nil {
		return err
	}
	file := path.Join(sumsName, name)
	if info, err := p.modules.Lstat(file); err == nil && !info.Mode().IsRegular() {
		if err := p.modules.RemoveAll(file); err != nil {
			return err
		}
	}
	return atomicfile.Write(p.modules, file, sums, atomicfile.Options{Disposable: true, Step: "project.sums"})
}

// KeepSums removes the saved sums whose names are not in keep.
func (p *Project) KeepSums(keep map[string]bool) error { return p.keepOnly(sumsName, keep) }
