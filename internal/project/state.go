package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

// Maximum sizes in bytes of the files that are read here. They are the limits of packages
// lockfile and manifest, plus the line of a seal.
const (
	maxLock     = 32 << 20
	maxManifest = 4 << 20
	maxSeal     = 128
	maxSums     = 64 << 20
)

// Notice is about an unfinished change or an untrusted file that [Open] or [View] found.
type Notice struct {
	Kind NoticeKind
	// File is the path of the file, for messages.
	File string
}

// NoticeKind is a kind of notice.
type NoticeKind int

// The kinds of notices.
const (
	// Undone means that the unfinished change of a killed process was undone.
	Undone NoticeKind = iota + 1
	// GivenUp means that another program installed modules after a process was
	// killed during a change. The change was abandoned and nothing moved back.
	GivenUp
	// UnprovenJournal and UnprovenLockCopy mean that this user did not write the file for this
	// project. The file is treated as absent.
	UnprovenJournal
	UnprovenLockCopy
)

// ReadLock returns the dependency lock's bytes, or nil if there is no lock file. If the
// lock is not a regular file or is too large, the error is an *fs.PathError that
// wraps atomicfile.ErrIrregular or atomicfile.ErrTooLarge.
func ReadLock(location Location) ([]byte, error) {
	dir, err := pathsafe.OpenRoot(location.Dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := location.check(); err != nil {
		return nil, err
	}
	place, err := location.openLock(dir)
	if err != nil {
		return nil, err
	}
	defer place.close()
	return place.read()
}

// Lock returns the dependency lock's bytes, as [ReadLock] does.
func (p *Project) Lock() ([]byte, error) { return p.lock.read() }

// readOptional returns nil if the file does not exist. For an empty file it returns an empty
// slice, not nil.
func readOptional(root *os.Root, name string, limit int64) ([]byte, error) {
	src, err := atomicfile.Read(root, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

// FormerLock returns the dependency lock as the last run wrote it, from the sealed copy. It
// returns nil if there is no copy or its seal is not valid.
func (p *Project) FormerLock() []byte { return p.former }

// HasLockCopy reports whether a run has left a copy of the lock, even if nothing proves it.
func (p *Project) HasLockCopy() bool {
	return p.former != nil || slices.ContainsFunc(p.notices, func(f Notice) bool { return f.Kind == UnprovenLockCopy })
}

// purpose returns the purpose under which a file of this project is sealed.
func (p *Project) purpose(what string) string {
	return fmt.Sprintf("%s of project %s", what, p.identity)
}

func (p *Project) note(kind NoticeKind, name string) {
	p.notices = append(p.notices, Notice{Kind: kind, File: filepath.Join(p.path, filepath.FromSlash(name))})
}

// Manifest reads modules.json. The error wraps fs.ErrNotExist if it is absent.
func (p *Project) Manifest() ([]byte, error) {
	return atomicfile.Read(p.modules, manifestName, maxManifest)
}

// Package opens the directory in which the call with this key is installed. The
// error wraps fs.ErrNotExist if it is absent. A link is an error.
func (p *Project) Package(key string) (*os.Root, error) {
	info, err := p.modules.Lstat(key)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", filepath.Join(p.path, key))
	}
	return p.modules.OpenRoot(key)
}

// FoldsCase reports whether the file system ignores case in names.
func (p *Project) FoldsCase() bool { return has(p.modules, strings.ToUpper(ownName)) }

// KeepsModes reports whether the file system stores executable bits. FAT and
// similar file systems give all files the same mode.
func (p *Project) KeepsModes() bool {
	if runtime.GOOS == "windows" {
		return false
	}
	info, err := p.modules.Lstat(flockName) // never made executable
	return err != nil || info.Mode().Perm()&0o111 == 0
}

// HasLinks reports whether the file system supports symbolic links. It tries to create one in the
// staging directory.
func (p *Project) HasLinks() bool {
	name := path.Join(p.stage, "@link") // no call can have this name
	if err := p.modules.Symlink("target", name); err != nil {
		return false
	}
	return p.modules.Remove(name) == nil
}
