package providerstore

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/providerzip"
	"github.com/cotterpin/cotter/internal/step"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// errCopyDiffers is returned if a copy does not have the same hash as its original.
var errCopyDiffers = errors.New("the copy differs from the package: another program changes it, or the file system cannot hold it")

// copyPackage copies a package to a directory that does not exist yet, and hashes the copy. If
// the file system supports it, the copy shares the blocks of the original's files.
func copyPackage(ctx context.Context, pkg *Package, to string) error {
	from, err := pathsafe.OpenRoot(pkg.Dir())
	if err != nil {
		return err
	}
	defer from.Close()
	if err := treewriter.CopyTree(ctx, to, hashing.RootFS(from), treewriter.CopyOptions{Limits: providerzip.Limits()}); err != nil {
		return fmt.Errorf("copying %s: %w", pkg.Dir(), err)
	}
	if got, err := providerzip.HashDir(ctx, to); err != nil || got != pkg.H1 {
		return errors.Join(errCopyDiffers, err, os.RemoveAll(to))
	}
	return nil
}

// take moves a package from the stage to a path. It copies the package instead if it has already
// been moved into a project, or if the path is on another file system.
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

// moved records that the package was moved from one path to another.
func (p *Package) moved(from, to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dir == from {
		p.dir = to
	}
}
