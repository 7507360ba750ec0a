package providerstore

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/opendir"
	"github.com/cotterpin/cotter/internal/step"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// errCopyDiffers is returned if a copy does not have the hash of its original.
var errCopyDiffers = errors.New("the copy differs from the package: another program changes it, or the file system cannot hold it")

// copyPackage copies a package to a directory that does not exist, and hashes the copy.
// The system shares the blocks of files if the file system can do that.
func copyPackage(ctx context.Context, pkg *Package, to string) error {
	from, err := opendir.Root(pkg.Dir())
	if err != nil {
		return err
	}
	defer from.Close()
	limits := treewriter.Limits{TreeBytes: 1 << 62, FileBytes: 1 << 62}
	if err := treewriter.CopyTree(ctx, to, hashing.RootFS(from), treewriter.CopyOptions{Limits: limits}); err != nil {
		return fmt.Errorf("copying %s: %w", pkg.Dir(), err)
	}
	if got, err := hashing.Dir(to); err != nil || got != pkg.H1 {
		return errors.Join(errCopyDiffers, err, os.RemoveAll(to))
	}
	return nil
}

// take moves a package from the stage to a path, or copies it if it is in a project
// already or on another file system.
func (p *Package) take(ctx context.Context, to string) error {
	p.mu.Lock()
	if !p.placed {
		err := step.Do("provider.place.take", func() error { return os.Rename(p.dir, to) })
		if err == nil {
			p.dir, p.placed = to, true
			p.mu.Unlock()
			return nil
		}
	}
	p.mu.Unlock()
	return step.Do("provider.place.copy", func() error { return copyPackage(ctx, p, to) })
}

// moved says that the package which was taken to one path is at another now.
func (p *Package) moved(from, to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dir == from {
		p.dir = to
	}
}
