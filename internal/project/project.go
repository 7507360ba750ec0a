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
	"sync"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/store/userkey"
)

// Project is the open state of a project: held exclusively from [Open], for reading only from [View].
type Project struct {
	location Location
	key      *userkey.Key
	identity string

	dir     *os.Root // the root module's directory
	lock    lockPlace
	modules *os.Root
	path    string // of modules

	held  []*filelock.Lock
	stage string // this process's directory in stageName
	// staging is stage, open from the first use to the end.
	staging *os.Root
	mu      sync.Mutex // for staging
	// made are the directories that this process has created, outermost first.
	made   []string
	former []byte // the proven copy of the lock; nil if there is none
	// confirmed are the times of the records in that copy, by name.
	confirmed map[string]time.Time
	// marks are those of the addresses of calls, by their keys.
	marks   map[string]string
	notices []Notice
}

// Close releases the project and removes its staged files, and what Open has created if nothing was
// installed. The next Open removes what cannot be removed now.
func (p *Project) Close() error {
	if p.staging != nil {
		_ = p.staging.Close() // nothing was written
	}
	if p.stage != "" {
		_ = atomicfile.Step("project.stage.remove", func() error { return p.modules.RemoveAll(p.stage) })
		p.removeMade()
	}
	err := p.lock.close()
	for _, lock := range p.held {
		err = errors.Join(err, lock.Release())
	}
	for _, root := range []*os.Root{p.modules, p.dir} {
		if root != nil {
			err = errors.Join(err, root.Close())
		}
	}
	return err
}

func (p *Project) keepStage() { p.stage = "" }

// Notice is about an unfinished change or an untrusted file that [Open] or [View] found.
type Notice struct {
	Kind NoticeKind
	File string // for messages
}

type NoticeKind int

const (
	// Undone is about the unfinished change of a killed process.
	Undone NoticeKind = iota + 1
	// GivenUp means that another program installed modules after a process was killed during a change,
	// so nothing was moved back.
	GivenUp
	// UnprovenJournal and UnprovenLockCopy mean that nothing proves that this user wrote the file for
	// this project. It is treated as absent.
	UnprovenJournal
	UnprovenLockCopy
)

// Notices returns what [Open] or [View] found.
func (p *Project) Notices() []Notice { return p.notices }

func (p *Project) note(kind NoticeKind, name string) {
	p.notices = append(p.notices, Notice{Kind: kind, File: filepath.Join(p.path, filepath.FromSlash(name))})
}

func (p *Project) Lock() ([]byte, error) { return p.lock.read() }

// FormerLock returns the lock of the sealed copy, or nil if there is none with a valid seal.
func (p *Project) FormerLock() []byte { return p.former }

// HasLockCopy reports whether a run has left a copy of the lock, even if nothing proves it.
func (p *Project) HasLockCopy() bool {
	return p.former != nil || slices.ContainsFunc(p.notices, func(f Notice) bool { return f.Kind == UnprovenLockCopy })
}

// purpose returns the purpose under which a file of this project is sealed. Everything below the project
// directory can come from a repository, so only sealed files are trusted; packages and sums are
// compared with the lock by callers, and modules.json is only a hint.
func (p *Project) purpose(what string) string {
	return fmt.Sprintf("%s of project %s", what, p.identity)
}

// Manifest returns modules.json. The error wraps fs.ErrNotExist if it is absent.
func (p *Project) Manifest() ([]byte, error) {
	return atomicfile.Read(p.modules, manifestName, MaxManifest)
}

// Package opens the directory of a call. The error wraps fs.ErrNotExist if it is absent. A link is an
// error.
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

// StagePath returns the path of a directory for files of this run, which Close removes. It may not exist.
func (p *Project) StagePath(name string) string {
	return filepath.Join(p.path, filepath.FromSlash(p.stage), name)
}

// Stage returns the directory to which packages are written before they are installed. A run that changes nothing creates
// none, so that it can be on a read-only file system. It is open until Close, because another process could put a link at
// its path.
func (p *Project) Stage() (*os.Root, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.staging != nil {
		return p.staging, nil
	}
	staging, err := pathsafe.OpenBelow(p.modules, p.path, strings.Split(p.stage, "/"), func(root *os.Root, _, name string) error {
		if err := root.Mkdir(name, 0o700); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
	p.staging = staging
	return staging, err
}

// StageLink stages a link to a directory outside of the modules directory as the directory of a call,
// or returns "" if that is such a link already.
func (p *Project) StageLink(key, target string) (string, error) {
	if p.LinksTo(key, target) {
		return "", nil
	}
	stage, err := p.Stage()
	if err != nil {
		return "", err
	}
	staged := p.StagePath(key)
	return staged, atomicfile.Step("project.stage.link", func() error { return linkDirectory(target, stage, staged) })
}

func (p *Project) LinksTo(key, target string) bool {
	linked, err := p.modules.Readlink(key)
	return err == nil && filepath.Clean(linked) == target
}

// FoldsCase reports whether the file system ignores case in names.
func (p *Project) FoldsCase() bool { return has(p.modules, strings.ToUpper(ownName)) }

// KeepsModes reports whether the file system stores executable bits. FAT gives all files the same mode,
// also one that was never made executable.
func (p *Project) KeepsModes() bool {
	info, err := p.modules.Lstat(flockName)
	return runtime.GOOS != "windows" && (err != nil || info.Mode().Perm()&0o111 == 0)
}

// HasLinks reports whether the file system supports symbolic links, by trying it. It is true for one that cannot be
// written, where what is there stays.
func (p *Project) HasLinks() bool {
	if _, err := p.Stage(); err != nil {
		return true
	}
	name := path.Join(p.stage, "@link") // no call can have this name
	if err := p.modules.Symlink("target", name); err != nil {
		return false
	}
	return p.modules.Remove(name) == nil
}

// removeMade removes what this process has created, if nothing was installed. Windows, which does not
// remove an open file, keeps the directories for the lock.
func (p *Project) removeMade() {
	own := filepath.Join(p.path, ownName)
	entries, err := os.ReadDir(p.path)
	if err != nil || len(entries) != 1 || !slices.Contains(p.made, own) || has(p.modules, lockCopyName) {
		return
	}
	_ = atomicfile.Step("project.dirs.remove", func() error { return os.RemoveAll(own) })
	for _, dir := range slices.Backward(p.made) {
		_ = os.Remove(dir) // fails if it is not empty
	}
}
