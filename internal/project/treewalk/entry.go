package treewalk

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
)

// Mismatch returns the reason why a lock entry does not decide the call, or "".
func (c *Call) Mismatch(entry lockfile.Module) string {
	reason := c.From.Mismatch(entry)
	switch {
	case reason == "" || c.ReplacesAsIn(entry) && c.From.IsOf(entry):
	case c.Replaced != nil:
		reason += fmt.Sprintf(", but %s replaces %q by %q", policy.FileName, c.Replaces(), c.From.LockAddress())
	case entry.Replaces != nil:
		reason += fmt.Sprintf(" in place of %q, but %s does not replace it", entry.Replaces, policy.FileName)
	}
	return reason
}

// Change returns how an installation would change an entry that decides the call, and the place in the
// configuration that causes it; "" if it would not.
func (c *Call) Change(entry lockfile.Module) (reason string, at hcl.Range) {
	text := func(replaced addrs.ModuleSource) string {
		if replaced == nil {
			return "nothing"
		}
		return addrs.Redact(replaced.String())
	}
	switch {
	case !c.ReplacesAsIn(entry):
		return fmt.Sprintf("the lock has it in place of %s, but %s in place of %s", text(entry.Replaces), policy.FileName, text(c.Replaces())), c.PlaceOfSource()
	case !entry.Constraints.Equal(c.From.Recorded):
		return fmt.Sprintf("the lock was made for the constraint %q, but the configuration says %q", entry.Constraints, c.From.Recorded), c.PlaceOfVersion()
	}
	return "", hcl.Range{}
}

// DirectoryEntry returns the entry of a call whose source a directory of the project replaces.
func (c *Call) DirectoryEntry() lockfile.Module {
	return lockfile.Module{Key: c.Key(), Source: c.From.LockAddress(), Replaces: c.Replaces()}
}

// LockEntry returns the module's entry in the lock; ok is false for a local module and an unlocked call.
func (m *Module) LockEntry() (entry lockfile.Module, ok bool) {
	switch {
	case m.Call.IsDirectory():
		return m.Call.DirectoryEntry(), true
	case m.OwnsPackage() && !m.Call.Unlocked:
		return m.Package.Entry, true
	}
	return lockfile.Module{}, false
}
