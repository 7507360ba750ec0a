package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/store/userkey"
)

// fetchName has the locks of downloads.
const fetchName = "fetch"

// fetchLock first removes anything of that name that is no regular file. If that fails, so will taking the
// lock.
func (p *packages) fetchLock(name string) *filelock.Lock {
	path := filepath.Join(p.dir, fetchName, name)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		_ = atomicfile.RemoveAll(path)
	}
	return filelock.File(path)
}

// maxRecord is in bytes. A module package has a few warnings and submodules with paths of at most 4 KiB, a
// provider up to 10,000 files.
const maxRecord = 4 << 20

// record identifies a sealed file with what this user has learned: the answer to a fetch, the release of a
// provider, the hash of a directory. Only this user's processes can write it; its purpose binds it to its
// subject.
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

// writeRecord replaces anything of that name that is not a file. It does nothing if the store is not
// writable, or the record too large: a missing record only costs time.
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

// forget removes the files of a directory that were last used before a time and that keep, which may be
// nil, does not keep. If a process is waiting for such a file, two may download the same package.
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
