package installer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/policy"
)

func (p *openProject) noEntry(c *call) string {
	if entry, ok := p.Lock.Directory(c.Key()); ok {
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
	entry, ok := p.Lock.Directory(m.Key())
	switch {
	case !ok:
		return &StaleError{fmt.Sprintf("%s replaces %s by the directory %s, which the lock does not have", policy.FileName, m.Call.Replaces(), m.Call.From.Address)}
	case entry.Source != m.Call.From.LockAddress() || !m.Call.ReplacesAsIn(entry):
		return &StaleError{fmt.Sprintf("the lock has the directory %s in place of %s, but %s has %s in place of %s",
			entry.Source, entry.Replaces, policy.FileName, m.Call.From.Address, m.Call.Replaces())}
	}
	return p.checkInside(m)
}

// checkInside returns an *OutsideError for a directory outside of the repository that replaces a package.
func (p *openProject) checkInside(m *module) error {
	if !m.Call.IsDirectory() || p.isInRepository(m.CurrentPath) {
		return nil
	}
	return &OutsideError{m.Call.From.Address.String(), m.Call.Replaces().String()}
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
		if c.Replaced == nil {
			continue
		}
		file = c.Replaced.By.Range.Filename
		text := c.Replaced.By.Of + " by " + c.Replaced.By.Source
		if c.From.IsLocal() {
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
