package atomicfile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

var (
	// ErrChanged says that the content is not [Options.Old], or that the target exists although that is
	// nil.
	ErrChanged = errors.New("changed by another program in the meantime")

	// ErrIrregular says that the target is not a regular file.
	ErrIrregular = errors.New("is not a regular file")
)

// newFileMode is that of stock tools' lock files.
const newFileMode fs.FileMode = 0o644

// Options determine when and how a file is replaced; the zero value unconditionally and durably.
type Options struct {
	// Swap compares Old right before the rename. A change in the microseconds between is not detected;
	// writers that need more must use a lock.
	Swap bool
	// Old is the content that the target must still have: nil if it must not exist, and not nil for an
	// empty file, as os.ReadFile returns it.
	Old []byte
	// Disposable skips syncing, for files that can be recreated and are checked when they are read: after a
	// power failure they may have any content.
	Disposable bool
	// Step is the prefix of the names of steps (see [Step]); "" means "file".
	Step string
}

// WriteFile is [Write] for a path of the operating system, with links in its directories.
func WriteFile(name string, data []byte, opts Options) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer root.Close()
	return Write(root, filepath.Base(name), data, opts)
}

// Write replaces the content of the file name in root, which may have slashes, by data. It writes a
// temporary file with a random name in the same directory, with O_EXCL, syncs it, renames it, and syncs the
// directory. An error leaves no temporary file behind; [Sweep] removes what a crash leaves.
//
// An existing file keeps its permission bits, a new one gets 0644 regardless of the umask. Owner, ACLs and
// hard links are not kept.
func Write(root *os.Root, name string, data []byte, opts Options) error {
	pending, err := Prepare(root, name, data, opts)
	if err != nil {
		return err
	}
	return pending.Commit()
}

// Pending has the new content next to its target. It must be committed or discarded.
type Pending struct {
	root       *os.Root
	name, temp string
	opts       Options
}

// Prepare writes the temporary file. Errors because of missing space or permissions occur here.
func Prepare(root *os.Root, name string, data []byte, opts Options) (*Pending, error) {
	info, err := lstat(root, name)
	if err != nil {
		return nil, namedError("replace", root, name, err)
	}
	mode := newFileMode
	if info != nil {
		mode = info.Mode().Perm()
	}
	p := &Pending{root: root, name: name, temp: tempName(name), opts: opts}
	if p.opts.Step == "" {
		p.opts.Step = "file"
	}
	if err := p.write(data, mode); err != nil {
		return nil, namedError("replace", root, name, err)
	}
	return p, nil
}

// Commit renames the temporary file. After an error the target is unchanged, unless only the sync of its
// directory failed.
func (p *Pending) Commit() error {
	err := p.check()
	if err == nil {
		err = Step(p.opts.Step+".rename", func() error { return p.root.Rename(p.temp, p.name) })
	}
	if err != nil {
		p.Discard()
		return namedError("replace", p.root, p.name, err)
	}
	if p.opts.Disposable {
		return nil
	}
	return namedError("replace", p.root, p.name, SyncDir(p.root, path.Dir(p.name), p.opts.Step))
}

func (p *Pending) Discard() { _ = p.root.Remove(p.temp) }

// Create creates a file with a mode. If it exists, even by another process at the same time, the error
// wraps fs.ErrExist.
func Create(root *os.Root, name string, data []byte, mode fs.FileMode, stepName string) error {
	p := &Pending{root: root, name: name, temp: tempName(name), opts: Options{Step: stepName}}
	if err := p.write(data, mode); err != nil {
		return namedError("replace", root, name, err)
	}
	defer p.Discard()
	err := Step(stepName+".link", func() error { return root.Link(p.temp, name) })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// Without hard links, the last of two processes wins.
		err = Step(stepName+".rename", func() error { return root.Rename(p.temp, name) })
	}
	if err == nil {
		err = SyncDir(root, path.Dir(name), stepName)
	}
	return namedError("replace", root, name, err)
}

func (p *Pending) write(data []byte, mode fs.FileMode) (err error) {
	var file *os.File
	err = Step(p.opts.Step+".create", func() error {
		file, err = p.root.OpenFile(p.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			p.Discard()
		}
	}()
	err = Step(p.opts.Step+".write", func() error {
		_, err := file.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	if err := file.Chmod(mode); err != nil || p.opts.Disposable {
		return err
	}
	return Step(p.opts.Step+".sync", file.Sync)
}

func (p *Pending) check() error {
	if !p.opts.Swap {
		_, err := lstat(p.root, p.name)
		return err
	}
	now, err := Read(p.root, p.name, int64(len(p.opts.Old)))
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.opts.Old == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrTooLarge):
		return ErrChanged
	case err != nil:
		return err
	case p.opts.Old == nil || !bytes.Equal(now, p.opts.Old):
		return ErrChanged
	}
	return nil
}

func lstat(root *os.Root, name string) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, irregular(info)
	}
	return info, nil
}

// SyncDir makes the names in a directory durable, except on Windows, which has no such call.
func SyncDir(root *os.Root, name, stepName string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return Step(stepName+".syncdir", func() error {
		dir, err := root.Open(name)
		if err != nil {
			return err
		}
		defer dir.Close()
		return dir.Sync()
	})
}

// namedError names the target, because users do not know the temporary file.
func namedError(op string, root *os.Root, name string, err error) error {
	if err == nil {
		return nil
	}
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		err = pathErr.Err
	case errors.As(err, &linkErr):
		err = linkErr.Err
	}
	return &fs.PathError{Op: op, Path: filepath.Join(root.Name(), name), Err: err}
}

// The name of a temporary file is a dot, the target's name, a dot, a random text, and this ending.
const tempEnding = ".tmp"

func tempName(name string) string {
	return path.Join(path.Dir(name), "."+path.Base(name)+"."+rand.Text()+tempEnding)
}
