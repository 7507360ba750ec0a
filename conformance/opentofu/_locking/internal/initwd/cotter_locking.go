package initwd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/lockfile"
)

// Locking is what the user of init says about the dependency lock. The zero value locks what is installed.
type Locking struct {
	// Readonly installs exactly what the lock says, as -lockfile=readonly does for providers.
	Readonly bool
	// AcceptChanged makes an upgrade also lock content that has changed while its version, tag or address
	// has not. Otherwise the locked content stays, with a warning.
	AcceptChanged bool
	// OneVersion makes all calls of a module share one version. If none meets their constraints, that is an error.
	OneVersion bool
}

// LockHooks is implemented by those ModuleInstallHooks that show what happens to the lock.
type LockHooks interface {
	// Lock gets a line about the lock, after the calls of Install that it is about.
	Lock(line string)
}

func (run *installation) options() installer.InstallOptions {
	o := installer.InstallOptions{AllowConfigErrors: true, Update: installer.Update{All: run.upgrade}}
	if run.locks {
		o.Locked, o.Unify = run.Locking.Readonly, run.Locking.OneVersion
		o.Update.AcceptAllChanged = run.upgrade && run.Locking.AcceptChanged
	}
	return o
}

func (run *installation) tell(line string) {
	if hooks, ok := run.hooks.(LockHooks); ok {
		hooks.Lock(line)
	}
}

func (run *installation) tellVerified(key string) {
	if run.verified[key] {
		run.tell("  Verified checksum matches lock file")
	}
}

// tellChanges says which modules have other versions now, and that the lock was written.
func (run *installation) tellChanges() {
	var lines []string
	for _, change := range run.changes {
		if text := changeText(change); text != "" {
			lines = append(lines, fmt.Sprintf("- %s: %s", change.Path, text))
		}
	}
	if len(lines) > 0 {
		run.tell("\nChanges to the locked modules:")
	}
	for _, line := range lines {
		run.tell(line)
	}
	switch {
	case run.written.Created:
		run.tell("\nOpenTofu has created a lock file .terraform.lock.hcl to record module versions.\nInclude this file in your version control repository.")
	case run.written.File != "":
		run.tell("\nOpenTofu has updated the lock file .terraform.lock.hcl. Review the changes to the\nmodules, and commit them to your version control repository.")
	}
}

// changeText describes what another entry means for its module. It is empty if the entry records the same
// release in another way.
func changeText(change installer.LockChange) string {
	was, is := release(change.Old), release(change.New)
	switch {
	case change.Old.Key == "":
		return is + " (added)"
	case change.New.Key == "":
		return was + " (removed)"
	case change.OtherContent != "":
		return change.OtherContent
	case was == is:
		return ""
	case change.ExcludedBy != nil:
		return fmt.Sprintf("%s -> %s, because the constraint %q excludes %s", was, is, change.ExcludedBy.Constraint, was)
	}
	return was + " -> " + is
}

// release names what an entry has locked: the version, or else the source with the commit, the digest or the hash.
func release(entry lockfile.Module) string {
	if entry.Key == "" || !entry.Version.IsZero() {
		return entry.Version.String()
	}
	var hash string
	if len(entry.Hashes) > 0 {
		hash = string(entry.Hashes[0])
	}
	return strings.TrimSpace(cmp.Or(entry.Revision(), hash))
}
