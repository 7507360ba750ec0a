package cotter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// placeLocked finds a module's place by the lock, and compares it with that in
// modules.json. Stock tools go by modules.json alone: one that leads elsewhere
// has them run files that nobody has verified.
func (l *loader) placeLocked(n *node, entry lockfile.Module) error {
	if _, ok := n.source.(addrs.ModuleSourceLocal); ok {
		err := placeLocal(n, l.req.dir())
		if err == nil {
			l.checkRecord(n, "")
		}
		return l.notInstalled(n, err)
	}
	key := n.path.String()
	n.pkg = &placed{
		key:     key,
		entry:   entry,
		dir:     l.req.installDir(key),
		realDir: l.req.realInstallDir(key),
		now:     filepath.Join(l.req.dataPath(), "modules", key),
	}
	if _, err := os.Lstat(n.pkg.now); err != nil {
		return n.fail(ErrNotInstalled) // which the package's report says
	}
	subdir, err := l.lockedSubdir(n, entry)
	if err != nil {
		return n.fail(err)
	}
	n.subdir = subdir
	n.dir = path.Join(n.pkg.dir, n.subdir)
	l.checkRecord(n, entry.Version)
	return l.notInstalled(n, n.enter())
}

// lockedSubdir is the directory of a module in its package by the lock. One that
// only a pattern names, or no lock, is taken from modules.json.
func (l *loader) lockedSubdir(n *node, entry lockfile.Module) (string, error) {
	subdir, err := subdirOf(n.source, entry.Package)
	if err != nil || entry.Package != "" && !isPattern(subdir) {
		return cleanSubdir(subdir), err
	}
	record, _ := l.recorded.Lookup(n.path.String())
	recorded, below := strings.CutPrefix(record.Dir, n.pkg.dir+"/")
	if fits, err := path.Match(cleanSubdir(subdir), recorded); below && (entry.Package == "" || fits && err == nil) {
		return cleanSubdir(recorded), nil
	}
	return cleanSubdir(subdir), nil
}

// notInstalled is the error of a module whose place could not be entered. Where
// its package or its record is at fault, that is said already.
func (l *loader) notInstalled(n *node, err error) error {
	if err == nil || n.pkg == nil {
		return err
	}
	if l.changed[n.pkg.key] || l.misplaced.has(n) {
		return n.fail(ErrNotInstalled)
	}
	return err
}

// checkRecord compares the record of a module with what an installation writes.
func (l *loader) checkRecord(n *node, version string) {
	if what := l.recordFault(n, version); what != "" {
		l.misplaced.add(n, n.fail(fmt.Errorf("%w: %s; run cotter install", ErrMisplaced, what)))
	}
}

func (l *loader) recordFault(n *node, version string) string {
	if l.manifestErr != nil {
		return "" // said once
	}
	want := n.record(version)
	record, ok := l.recorded.Lookup(want.Key)
	switch {
	case !ok:
		return "it has no record of it"
	case record.Source != want.Source:
		return fmt.Sprintf("it has the source %q", addrs.Redact(record.Source))
	case !sameVersion(record.Version, want.Version):
		return fmt.Sprintf("it has the version %q, and the lock has %q", record.Version, want.Version)
	case path.Clean(record.Dir) != path.Clean(want.Dir):
		return fmt.Sprintf("it leads to %q instead of %q", record.Dir, want.Dir)
	}
	return ""
}

// checkManifest reports a manifest that cannot be read at all.
func (l *loader) checkManifest(root *node) {
	err := l.manifestErr
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it is gone")
	}
	if err != nil {
		l.misplaced.add(root, fmt.Errorf("%w: %w; run cotter install", ErrMisplaced, err))
	}
}

// sameVersion compares versions as the lock and modules.json spell them.
func sameVersion(a, b string) bool {
	if a == b {
		return true
	}
	va, errA := versions.Parse(a)
	vb, errB := versions.Parse(b)
	return errA == nil && errB == nil && va == vb
}
