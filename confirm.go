package cotter

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/lockfile"
)

// An entry of the lock says that a source, at a version, means a directory of a
// package with certain hashes. Bytes can be compared with hashes anywhere; the rest
// only the origin can confirm. Packages that are installed or in the cache are used
// without asking for entries that were confirmed before: for the last run in this
// project, whose lock is kept beside the modules, or for any run that shares the
// cache. Both are proven to be this user's by the key in Installer.StateDir.

// confirmations are what origins have confirmed of a lock's entries.
type confirmations struct {
	// former is the lock of the last run in the project; nil if it is not known.
	former *lockfile.File
	// recorded reports whether the cache has a record.
	recorded func(record string) bool

	mu sync.Mutex
	// pending are the records that are to be kept.
	pending []string
}

// confirmationsOf returns what is known of confirmations in a project, by a cache
// that may not be open.
func confirmationsOf(former *lockfile.File, cacheDir string, key *userkey.Key) *confirmations {
	return &confirmations{former: former, recorded: func(record string) bool {
		return cacheDir != "" && pkgcache.IsConfirmed(cacheDir, key, record)
	}}
}

// hasEntry reports whether an origin has confirmed the entry for a call like this.
func (cs *confirmations) hasEntry(c *call, entry lockfile.Module) bool {
	return cs.isFormer(entry) || cs.recorded(record(c, entry))
}

// hasName reports whether an origin has confirmed that the tag by which the entry
// was locked points to its revision.
func (cs *confirmations) hasName(c *call, entry lockfile.Module) bool {
	return cs.isFormer(entry) || cs.recorded(byName+record(c, entry))
}

// add notes that the origin confirmed an entry, and with name also its tag.
func (cs *confirmations) add(c *call, entry lockfile.Module, name bool) {
	text := record(c, entry)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.pending = append(cs.pending, text)
	if name {
		cs.pending = append(cs.pending, byName+text)
	}
}

// keep records what was added in the cache, for later runs. A cache may be
// read-only: the origins are asked again then.
func (cs *confirmations) keep(cache *pkgcache.Cache) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	_ = cache.Confirm(cs.pending...)
	cs.pending = nil
}

// formerEntry returns the entry that the last run in this project had.
func (cs *confirmations) formerEntry(key string) (lockfile.Module, bool) {
	if cs.former == nil {
		return lockfile.Module{}, false
	}
	return cs.former.Module(key)
}

// isFormer reports whether the last run in this project had the same entry.
func (cs *confirmations) isFormer(entry lockfile.Module) bool {
	old, ok := cs.formerEntry(entry.Key)
	return ok && statement(old) == statement(entry)
}

// byName is in front of a record that was confirmed by the name of its revision.
const byName = "by name: "

// record is what the cache keeps of an entry for a call. A call in a package may
// use fewer places than one of the user's own.
func record(c *call, entry lockfile.Module) string {
	if c.fromPackage() {
		return "in a package: " + statement(entry)
	}
	return statement(entry)
}

// statement is what an entry says, in one text.
func statement(entry lockfile.Module) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %q", entry.Source, entry.Version, entry.Package)
	for _, h := range slices.Sorted(slices.Values(entry.Hashes)) {
		if h.Known() {
			fmt.Fprintf(&b, " %q", h)
		}
	}
	return b.String()
}
