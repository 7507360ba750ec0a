package treewalk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

func (p *Project) recordedModule(_ context.Context, c *Call) (*Module, error) {
	if c.From.IsLocal() && c.IsOwn() && !c.From.IsLinked() {
		return p.LocalModule(c)
	}
	record, ok := p.Recorded.Lookup(c.Key())
	if !ok {
		return nil, c.Fail(config.ErrNotInstalled)
	}
	isFrom := func(source string) error {
		return c.Fail(fmt.Errorf("%w: what is installed is from %s", config.ErrNotInstalled, addrs.Redact(source)))
	}
	if entry, locked := p.Lock.Module(c.Key()); c.Replaced != nil && locked && !c.From.IsOf(entry) {
		return nil, isFrom(entry.Source.String())
	}
	if !c.IsRecordedAs(record, p.Dialect.Parser()) {
		return nil, isFrom(record.Source)
	}
	m := &Module{Call: c, FinalPath: record.Dir, CurrentPath: p.Dirs.Path(record.Dir)}
	if info, err := os.Stat(m.CurrentPath); err != nil || !info.IsDir() {
		return nil, c.Fail(fmt.Errorf("%w: its directory %s is gone", config.ErrNotInstalled, record.Dir))
	}
	if !c.From.IsLinked() {
		m.Package, m.Subdir = p.recordedPackage(c, record.Dir)
	}
	return m, nil
}

// recordedOrLocked finds a module in the directory that modules.json records, or else in the lock.
func (p *Project) recordedOrLocked(ctx context.Context, c *Call) (*Module, error) {
	pkg := c.Caller.Package
	if c.IsDirectory() {
		return p.LocalModule(c)
	}
	notInstalled := c.Fail(config.ErrNotInstalled)
	if !c.Caller.IsLocked() {
		m, err := p.recordedModule(ctx, c)
		if !errors.Is(err, config.ErrNotInstalled) {
			return m, err
		}
		pkg, notInstalled = nil, err
	}
	if entry, ok := p.entryOf(c); ok && c.From.Mismatch(entry) == "" {
		pkg = new(p.NewPackage(entry))
	}
	if pkg == nil && !(c.Caller.IsLocked() && c.From.IsLocal()) {
		return nil, notInstalled
	}
	return &Module{Call: c, Package: pkg, FinalPath: p.Dirs.PackageDir(c.Key())}, nil
}

// entryOf returns the lock entry of a call. One of an unlocked call says nothing about what is installed.
func (p *Project) entryOf(c *Call) (lockfile.Module, bool) {
	if c.Unlocked {
		return lockfile.Module{}, false
	}
	return p.Lock.Module(c.Key())
}

// recordedPackage returns the package of a module that modules.json records, its own or its caller's, and the
// directory of the module in it.
func (p *Project) recordedPackage(c *Call, dir string) (pkg *Package, subdir string) {
	dir = path.Clean(dir)
	if pkg = c.Caller.Package; !c.From.IsLocal() {
		entry, _ := p.entryOf(c)
		entry.Key = c.Key()
		pkg = new(p.NewPackage(entry))
		if files, top := p.Dirs.Recorded(c.Key(), dir); top != pkg.FinalPath {
			pkg.Files, pkg.FinalPath, pkg.RealPath = files, top, top
		}
	}
	for _, top := range []string{pkg.FinalPath, pkg.RealPath} {
		if pathsafe.Within(dir, top) {
			return pkg, path.Clean("." + strings.TrimPrefix(dir, top))
		}
	}
	return pkg, path.Join("..", dir) // outside of the package, which is an error when it is read
}

// IsRecordedAs reports whether a record has the source of the call. Old versions of stock tools recorded addresses
// of registries as they were written, which may be without the host.
func (c *Call) IsRecordedAs(record project.ManifestRecord, parser addrs.Parser) bool {
	_, from := c.Written()
	source, err := parser.ParseModuleSource(record.Source)
	return record.IsReplaced() == (c.Replaced != nil) && (record.Source == from.Address.String() || err == nil && addrs.SameSource(source, from.Address))
}
