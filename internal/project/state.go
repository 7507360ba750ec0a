package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/opendir"
)

// The limits of the files that are read here, in bytes. They are those of
// packages lockfile and manifest, and room for the line of a seal.
const (
	maxLock     = 32 << 20
	maxManifest = 4 << 20
	maxSeal     = 128
	maxSums     = 64 << 20
)

// Finding is something that an earlier process left.
type Finding struct {
	Kind FindingKind
	// File is the file that it is about, for messages.
	File string
}

// FindingKind says what was found.
type FindingKind int

// The kinds of findings.
const (
	// Undone is a change of a killed process that was undone.
	Undone FindingKind = iota + 1
	// GivenUp is a change of a killed process after which another program
	// installed modules. Nothing was moved back.
	GivenUp
	// UnprovenJournal and UnprovenLockCopy are files that this user did not
	// write for this project. They count as absent.
	UnprovenJournal
	UnprovenLockCopy
)

// ReadLock returns the dependency lock's bytes; nil if there is none. A lock that
// is not a regular file, or too large, is an *fs.PathError over
// atomicfile.ErrIrregular or atomicfile.ErrTooLarge.
func ReadLock(location Location) ([]byte, error) {
	dir, err := opendir.Root(location.Dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return readOptional(dir, location.LockFile, maxLock)
}

// Lock is [ReadLock] of this project.
func (p *Project) Lock() ([]byte, error) {
	return readOptional(p.dir, p.location.LockFile, maxLock)
}

// readOptional returns nil, which is no empty file, for a file that is absent.
func readOptional(root *os.Root, name string, limit int64) ([]byte, error) {
	src, err := atomicfile.Read(root, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

// FormerLock is the dependency lock as the last run left it, if that is proven;
// nil otherwise.
func (p *Project) FormerLock() []byte { return p.former }

// readFormerLock reads the copy of the lock.
func (p *Project) readFormerLock() {
	sealed, err := atomicfile.Read(p.modules, lockCopyName, maxLock+maxSeal)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		p.former, err = p.key.Open(p.purpose("lock copy"), sealed)
	}
	if err != nil {
		p.find(UnprovenLockCopy, lockCopyName)
	}
}

// purpose is what a sealed file of this project is for.
func (p *Project) purpose(what string) string {
	return fmt.Sprintf("%s of project %s", what, p.identity)
}

func (p *Project) find(kind FindingKind, name string) {
	p.findings = append(p.findings, Finding{Kind: kind, File: filepath.Join(p.path, filepath.FromSlash(name))})
}

// Manifest reads modules.json. A file that is absent is fs.ErrNotExist.
func (p *Project) Manifest() ([]byte, error) {
	return atomicfile.Read(p.modules, manifestName, maxManifest)
}

// Package opens the installed directory of a call's key. It is fs.ErrNotExist
// if there is none, and an error if it is anything but a real directory.
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
