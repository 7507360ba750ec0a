package installer

import (
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/lockfile"
)

// A lock does not show every part of every source address (see IsRecord in package addrs), so an entry can fit a
// call whose address is not the one that it was made for. A mark tells them apart: a code of the whole address
// under the user's key, which reveals nothing. The marks of the last run are beside its copy of the lock. What
// origins and the user have confirmed is kept for the mark too, so it never counts for another address.
//
// If the entry of a call is the one that this machine has installed for another address, only an origin can confirm
// it. If the origin has something else, an installation selects anew, as after any change of a source; a run that
// must not change the lock fails. On other machines, nothing shows that an address has changed but the hash.

// markOf returns the mark of an address; "" if every lock shows all of it.
func markOf(key *userkey.Key, address addrs.ModuleSource) string {
	if address == nil || addrs.Hidden(address, false) == nil {
		return ""
	}
	return key.Name("source address", addrs.Identity(address))
}

// addresses are those from which the last run has installed the entries of the former lock.
type addresses struct {
	former *lockfile.File // nil if it is not known
	files  *project.Project
}

// mark returns the mark of the address of a key in the former lock.
func (a addresses) mark(key string) string {
	if a.files == nil {
		return ""
	}
	return a.files.Mark(key)
}

// isOther reports whether the last run has installed an entry, that of a call or of another call, from another
// address than that of the call. It is false if nothing is known about the entry.
func (a addresses) isOther(c *call, entry lockfile.Module) bool {
	former, ok := a.former.Module(entry.Key)
	return ok && c.From.IsRemote() && a.mark(entry.Key) != c.Mark && len(lockentry.Differences(former, entry)) == 0
}

// mayBeOther reports whether an entry can be for another address than that of a call: the last run has installed it
// from there, or it is the entry of another call, and nothing shows that it is for the same address.
func (a addresses) mayBeOther(c *call, entry lockfile.Module) bool {
	if entry.Key == c.Key() {
		return a.isOther(c, entry)
	}
	_, known := a.former.Module(entry.Key)
	return a.mark(entry.Key) != c.Mark || !known && c.Mark != ""
}

// unseen returns what the statements about the entry of a call depend on that the run has not read.
func (a addresses) unseen(entry lockfile.Module, fromPackage bool) lockentry.Call {
	return lockentry.Call{FromPackage: fromPackage, Source: entry.Source, Mark: a.mark(entry.Key)}
}

func statementsOf(c *call, entry lockfile.Module) lockentry.Statements {
	return lockentry.StatementsOf(entry, lockentry.Call{FromPackage: c.From.FromPackage, Source: c.From.LockAddress(), Mark: c.Mark})
}

// lacksArguments reports whether all that an installation would change in an entry are the arguments that its
// addresses show. Runs that must not change the lock accept that.
func lacksArguments(old, entry lockfile.Module) bool {
	if !addrs.SameRecord(old.Source, entry.Source) || !addrs.SameRecord(old.Replaces, entry.Replaces) {
		return false
	}
	old.Source, old.Replaces = entry.Source, entry.Replaces
	return old.Equal(entry)
}

// otherAddress is the reason why an entry does not fit a call that it was not installed for.
func otherAddress(c *call, entry lockfile.Module) string {
	parts := c.From.Hidden(entry)
	if parts == nil {
		return "its source has changed since the installation, in a part that the lock does not show"
	}
	return fmt.Sprintf("its source has changed since the installation, in a part that the lock does not show (%s)", strings.Join(parts, ", "))
}
