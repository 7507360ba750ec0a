package installer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
)

// mismatch returns the reason why a lock entry does not decide the call, or "".
func (c *call) mismatch(entry lockfile.Module) string {
	reason := c.from.Mismatch(entry)
	switch {
	case reason == "" || c.replacesAsIn(entry) && c.from.IsOf(entry):
	case c.replaced != nil:
		reason += fmt.Sprintf(", but %s replaces %q by %q", policy.FileName, c.replaces(), c.from.LockAddress())
	case entry.Replaces != nil:
		reason += fmt.Sprintf(" in place of %q, but %s does not replace it", entry.Replaces, policy.FileName)
	}
	return reason
}

// change returns how an installation would change an entry that decides the call, and the place in the
// configuration that causes it; "" if it would not.
func (c *call) change(entry lockfile.Module) (reason string, at hcl.Range) {
	text := func(replaced addrs.ModuleSource) string {
		if replaced == nil {
			return "nothing"
		}
		return addrs.Redact(replaced.String())
	}
	switch {
	case !c.replacesAsIn(entry):
		return fmt.Sprintf("the lock has it in place of %s, but %s in place of %s", text(entry.Replaces), policy.FileName, text(c.replaces())), c.placeOfSource()
	case !entry.Constraints.Equal(c.from.Recorded):
		return fmt.Sprintf("the lock was made for the constraint %q, but the configuration says %q", entry.Constraints, c.from.Recorded), c.placeOfVersion()
	}
	return "", hcl.Range{}
}

func (c *call) directoryEntry() lockfile.Module {
	return lockfile.Module{Key: c.key(), Source: c.from.LockAddress(), Replaces: c.replaces()}
}

// lockEntry returns the module's entry in the lock; ok is false for a local module.
func (m *module) lockEntry() (entry lockfile.Module, ok bool) {
	switch {
	case m.call.isDirectory():
		return m.call.directoryEntry(), true
	case m.ownsPackage():
		return m.pkg.entry, true
	}
	return lockfile.Module{}, false
}

func (p *openProject) noEntry(c *call) string {
	if entry, ok := p.lock.Directory(c.key()); ok {
		return fmt.Sprintf("the lock has the directory %s in place of %s, but %s does not replace it by a directory", entry.Source, entry.Replaces, policy.FileName)
	}
	return "the lock has no entry for it"
}

// OutsideError says that a directory that replaces a package is not in the project's git repository, so that
// neither a lock nor a commit says what it has. Verify, and runs with Locked, refuse it.
type OutsideError struct {
	Directory, Replaces string // the source addresses
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s replaces %s by the directory %s, which is not in the repository", policy.FileName, e.Replaces, e.Directory)
}

// directoryFault returns a *StaleError or an *OutsideError if a directory that replaces a package does not fit
// the lock.
func (p *openProject) directoryFault(m *module) error {
	entry, ok := p.lock.Directory(m.key())
	switch {
	case !ok:
		return &StaleError{fmt.Sprintf("%s replaces %s by the directory %s, which the lock does not have", policy.FileName, m.call.replaces(), m.call.from.Address)}
	case entry.Source != m.call.from.LockAddress() || !m.call.replacesAsIn(entry):
		return &StaleError{fmt.Sprintf("the lock has the directory %s in place of %s, but %s has %s in place of %s",
			entry.Source, entry.Replaces, policy.FileName, m.call.from.Address, m.call.replaces())}
	}
	return p.checkInside(m)
}

// checkInside returns an *OutsideError for a directory outside of the repository that replaces a package.
func (p *openProject) checkInside(m *module) error {
	if !m.call.isDirectory() || p.isInRepository(m.currentPath) {
		return nil
	}
	return &OutsideError{m.call.from.Address.String(), m.call.replaces().String()}
}

// isInRepository reports whether a directory is in the project's git repository; without one, whether it is
// below the root module.
func (p *openProject) isInRepository(dir string) bool {
	root, err := pathsafe.Real(p.req.dir())
	if err != nil {
		return false
	}
	if dir, err = pathsafe.Real(dir); err != nil {
		return false
	}
	above := project.RepositoryDirs(root)
	return pathsafe.Within(filepath.ToSlash(dir), filepath.ToSlash(above[len(above)-1]))
}

// replacedWarning says in one line which sources of calls are replaced; zero if none is.
func replacedWarning(calls []*call) event.Warning {
	var parts []string
	file := "" // all blocks are in one file
	for _, c := range calls {
		if c.replaced == nil {
			continue
		}
		file = c.replaced.by.Range.Filename
		text := c.replaced.by.Of + " by " + c.replaced.by.Source
		if c.from.IsLocal() {
			text += " (not locked)"
		}
		parts = append(parts, text)
	}
	if parts == nil {
		return event.Warning{}
	}
	slices.Sort(parts)
	return event.Warning{Kind: event.WarningReplaced, Message: file + " replaces " + strings.Join(slices.Compact(parts), ", ")}
}
