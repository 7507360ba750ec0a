package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/store/userkey"
)

// kind is what differs on disk between [moduleKind] and [providerKind].
type kind struct {
	// dir is the directory in the user's cache, or "" for the cache itself.
	dir      string
	packages string
	// records are directories with locks of downloads, and with what this user has learned about packages.
	records []string
	// steps begins the names of steps; see atomicfile.Step.
	steps string
	// isName reports whether a name is that of a package. nil means any, so that one with another name than
	// that of its content is damaged.
	isName func(name string) bool
	// readOnly says that published files are read-only, even for their user. Directories stay writable, so
	// that the user can remove the cache.
	readOnly bool
}

const (
	stageName      = "stage"
	quarantineName = "quarantine"
)

// ErrDamaged says that the content of a stored package does not have the hash of its name. The package has
// been moved to quarantine.
var ErrDamaged = errors.New("the stored package does not have the hash of its name")

// packages is what [Modules] and [Providers] have in common. It knows neither how a package is hashed nor
// what its name means.
type packages struct {
	kind kind
	dir  string // the kind's directory; "" if there is no cache
	key  *userkey.Key
	// writable says that create has succeeded. Otherwise the store is only read.
	writable bool
	// scratch is where packages are staged if the store is not writable, or "".
	scratch string

	stageLock sync.Mutex
	stage     *stage // nil until it is needed, if the store is not writable
	inUse     inUse  // the packages that this process uses until Close

	// quarantining is locked so that the package that was compared is moved, and not the one that replaces
	// it.
	quarantining sync.Mutex
}

func (p *packages) create() error {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	for _, name := range append([]string{p.kind.packages, stageName, quarantineName}, p.kind.records...) {
		if err := makeDir(filepath.Join(p.dir, name), p.kind.steps); err != nil {
			return err
		}
	}
	var err error
	p.stage, err = openStage(filepath.Join(p.dir, stageName), p.kind.steps)
	p.writable = err == nil
	return err
}

// Close also removes the staging directory. The next process removes what cannot be removed now.
func (p *packages) Close() error {
	p.stageLock.Lock()
	defer p.stageLock.Unlock()
	var err error
	if p.stage != nil {
		err = p.stage.close()
		if !p.writable {
			_ = os.Remove(p.scratch) // if it is empty
		}
	}
	return errors.Join(err, p.inUse.close())
}

func (p *packages) Writable() bool { return p.writable }

var errNoScratch = errors.New("there is no directory for packages on their way")

func (p *packages) newPath() (string, error) {
	p.stageLock.Lock()
	defer p.stageLock.Unlock()
	if p.stage == nil {
		if p.scratch == "" {
			return "", errNoScratch
		}
		if err := os.MkdirAll(p.scratch, 0o755); err != nil {
			return "", err
		}
		var err error
		if p.stage, err = openStage(p.scratch, p.kind.steps); err != nil {
			return "", err
		}
	}
	return p.stage.newPath(), nil
}

// path is that of a package that need not exist.
func (p *packages) path(name string) string { return filepath.Join(p.dir, p.kind.packages, name) }

// step is such as "cache.tree.publish".
func (p *packages) step(operation string) string {
	return p.kind.steps + "." + p.kind.packages + "." + operation
}

func (p *packages) use(name string) bool {
	return p.dir != "" && (p.kind.isName == nil || p.kind.isName(name)) && p.inUse.use(p.path(name))
}

const publishAttempts = 10

// publish makes the hashed tree at staged, a path from newPath, the package with a name. If has reports
// that there is one already, publish removes the tree and returns true. A process that is killed before the
// rename leaves files only in its staging directory, which the next process removes; after it, others see
// the whole package.
func (p *packages) publish(staged, name string, has func() bool) (existed bool, err error) {
	// 1. The files get the mode that they keep.
	if p.kind.readOnly {
		if err := makeReadOnly(staged); err != nil {
			return false, err
		}
	}
	for range publishAttempts {
		if has() {
			return true, atomicfile.Step(p.step("drop"), func() error { return atomicfile.RemoveAll(staged) })
		}
		// 2. Anything else with the package's name is moved away.
		if err = p.clear(name); err != nil {
			return false, err
		}
		// 3. The package is locked, so that no process removes it as soon as it is visible, and then
		// renamed.
		err = p.inUse.publish(staged, p.path(name), func() error {
			return atomicfile.Step(p.step("publish"), func() error { return os.Rename(staged, p.path(name)) })
		})
		if err == nil {
			return false, nil
		}
		// Another process may have published it.
	}
	return false, err
}

func (p *packages) clear(name string) error {
	info, err := os.Lstat(p.path(name))
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // after another error the rename will fail
	}
	_, err = p.quarantine(name, info)
	return err
}

// check compares a package with its name, and locks it until the store is closed. hash returns the name for
// the content of a directory. For another one, or unreadable content, check moves the package to
// quarantine, and the error wraps [ErrDamaged]; if there is no package, it wraps fs.ErrNotExist. If the
// package is published again meanwhile, check compares the new one.
func (p *packages) check(name string, hash func(dir string) (string, error)) error {
	for {
		before, err := os.Lstat(p.path(name))
		if err != nil || !p.use(name) {
			return &fs.PathError{Op: "open", Path: p.path(name), Err: fs.ErrNotExist}
		}
		got, err := hash(p.path(name))
		switch {
		case err == nil && got == name:
			return nil
		case err != nil && !isDamage(err):
			return err
		}
		if replaced, err := p.quarantine(name, before); !replaced {
			return errors.Join(fmt.Errorf("%s: %w", p.path(name), ErrDamaged), err)
		}
	}
}

// isDamage reports whether reading failed because of a tree's content, and not because of the system.
func isDamage(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false // the tree was not read to its end
	}
	_, badTree := errors.AsType[*hashing.TreeError](err)
	_, failed := errors.AsType[*fs.PathError](err)
	return badTree && !failed || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// quarantine moves a package, unless it has been replaced since it was the file that damaged describes.
func (p *packages) quarantine(name string, damaged fs.FileInfo) (replaced bool, err error) {
	p.quarantining.Lock()
	defer p.quarantining.Unlock()
	switch now, err := os.Lstat(p.path(name)); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // it has been moved already
	case err != nil:
		return false, err
	case !os.SameFile(damaged, now):
		return true, nil
	}
	p.inUse.release(p.path(name))
	if !p.writable {
		return false, nil
	}
	dir := filepath.Join(p.dir, quarantineName)
	if err := makeDir(dir, p.kind.steps); err != nil { // cleaning may have removed it
		return false, err
	}
	return false, p.move(p.step("quarantine"), p.path(name), filepath.Join(dir, rand.Text()))
}

// Remove removes a package, which vanishes at once for others, unless a process uses it, and reports
// whether it did.
func (p *packages) Remove(name string) (bool, error) {
	return p.removeIf(name, func() (bool, error) { return true, nil })
}

// removeIf is Remove unless may returns false, during which no process can start to use the package.
func (p *packages) removeIf(name string, may func() (bool, error)) (bool, error) {
	if p.dir == "" || !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
		return false, nil
	}
	allowed := true
	removed, err := p.inUse.remove(p.path(name), func() (err error) {
		if allowed, err = may(); err != nil || !allowed {
			return err
		}
		staged, err := p.newPath()
		if err == nil {
			err = p.move(p.kind.steps+".clean.move", p.path(name), staged)
		}
		if err != nil {
			return err
		}
		return atomicfile.Step(p.kind.steps+".clean.remove", func() error { return atomicfile.RemoveAll(staged) })
	})
	return removed && allowed, err
}

// move renames a package, unless another process has already moved it. Directories of a restored cache can
// be read-only.
func (p *packages) move(stepName, from, to string) error {
	if info, err := os.Lstat(from); err == nil && info.IsDir() && info.Mode()&0o200 == 0 {
		_ = os.Chmod(from, info.Mode().Perm()|0o700)
	}
	err := atomicfile.Step(stepName, func() error { return os.Rename(from, to) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (p *packages) markUsed(name string) {
	if p.writable {
		markUsed(p.path(name))
	}
}

// Entries are sorted by name; nil if there is no store.
func (p *packages) Entries() ([]Entry, error) {
	if p.dir == "" {
		return nil, nil
	}
	return entriesOf(filepath.Join(p.dir, p.kind.packages))
}

func (p *packages) QuarantineSize() (int64, error) {
	if p.dir == "" {
		return 0, nil
	}
	return Size(filepath.Join(p.dir, quarantineName))
}

func (p *packages) RemoveQuarantine() error {
	if p.dir == "" {
		return nil
	}
	return atomicfile.RemoveAll(filepath.Join(p.dir, quarantineName))
}
