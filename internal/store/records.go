package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/filelock"
	"github.com/cotterpin/cotter/internal/userkey"
)

// fetchName is the directory of the locks that processes hold while they download a package.
const fetchName = "fetch"

// fetchLock returns the lock on the download with a name. Anything with that name that is not a
// regular file is removed first. If that fails, taking the lock will fail too.
func (p *packages) fetchLock(name string) *filelock.Lock {
	path := filepath.Join(p.dir, fetchName, name)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		_ = atomicfile.RemoveAll(path)
	}
	return filelock.File(path)
}

// maxRecord is the maximum size of a record in bytes. A module package has a few warnings and
// submodules, each with a path of at most 4 KiB. A provider has up to 10,000 files.
const maxRecord = 4 << 20

// record identifies a sealed file with what this user has learned about a package: the answer to a
// fetch, the release of a provider, the hash of a directory. Only this user's processes can write
// it, so it is trusted (see package userkey). Its purpose binds it to its subject.
type record struct{ dir, name, purpose string }

func (p *packages) readRecord(r record, to any) error {
	if p.dir == "" {
		return fs.ErrNotExist
	}
	dir, err := os.OpenRoot(filepath.Join(p.dir, r.dir))
	if err != nil {
		return err
	}
	defer dir.Close()
	return readSealed(dir, p.key, r.name, r.purpose, to)
}

func readSealed(dir *os.Root, key *userkey.Key, name, purpose string, to any) error {
	sealed, err := atomicfile.Read(dir, name, maxRecord)
	if err != nil {
		return err
	}
	text, err := key.Open(purpose, sealed)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// writeRecord writes a record. It replaces anything of that name that is not a file. It does nothing if
// the store is not writable, or the record would exceed the limit of its readers: a missing record
// only costs time later.
func (p *packages) writeRecord(r record, what any) error {
	if !p.writable {
		return nil
	}
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	sealed := p.key.Seal(r.purpose, text)
	if len(sealed) > maxRecord {
		return nil
	}
	dir, err := os.OpenRoot(filepath.Join(p.dir, r.dir))
	if err != nil {
		return err
	}
	defer dir.Close()
	options := atomicfile.Options{Disposable: true, Step: p.kind.steps + "." + r.dir}
	err = atomicfile.Write(dir, r.name, sealed, options)
	if errors.Is(err, atomicfile.ErrIrregular) {
		_ = dir.RemoveAll(r.name)
		err = atomicfile.Write(dir, r.name, sealed, options)
	}
	return err
}

// forget removes the files of a directory that were last written or used before a time, except for
// those that keep, which may be nil, returns true for. Another process may be waiting for such a
// file. In the worst case, two processes download the same package.
func (p *packages) forget(dir string, before time.Time, keep func(name string) bool) error {
	if p.dir == "" {
		return nil
	}
	dir = filepath.Join(p.dir, dir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		info, infoErr := entry.Info()
		if infoErr != nil || info.ModTime().After(before) {
			continue // another process removed it, or it is newer
		}
		if keep == nil || !keep(entry.Name()) {
			err = errors.Join(err, p.removeRecord(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

func (p *packages) removeRecord(path string) error {
	err := atomicfile.Step(p.kind.steps+".forget.remove", func() error { return os.Remove(path) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
