package cotter

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

// An entry of the lock says that a source, at a version, leads to a directory of
// a package with certain hashes. Bytes can be compared with hashes anywhere;
// the rest only the origin can confirm. Packages that are installed or in the
// cache are used without asking for entries that were confirmed before: for the
// last run in this project, whose lock is kept beside the modules, or for any
// run that shares the cache. Both are proven to be this user's by the key in
// Installer.StateDir.

// named is in front of a claim that was confirmed by the name of its revision.
const named = "by name: "

// claim is what an entry says, in one text.
func claim(entry lockfile.Module) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %q", entry.Source, entry.Version, entry.Package)
	for _, h := range slices.Sorted(slices.Values(entry.Hashes)) {
		if h.Known() {
			fmt.Fprintf(&b, " %q", h)
		}
	}
	return b.String()
}

// isConfirmed reports whether an entry was confirmed before.
func (r *run) isConfirmed(n *node, entry lockfile.Module) bool {
	return r.isFormer(entry) || r.cache.Confirmed(n.claim(entry))
}

// isFormer reports whether the last run in this project had the same entry.
func (r *run) isFormer(entry lockfile.Module) bool {
	old, ok := r.formerEntry(entry.Key)
	return ok && claim(old) == claim(entry)
}

func (r *run) formerEntry(key string) (lockfile.Module, bool) {
	if former := r.former(); former != nil {
		return former.Module(key)
	}
	return lockfile.Module{}, false
}

// asksName reports whether the run is to ask if the tag of an entry means what is
// locked. A run that may not change the lock does, once; others keep to the
// locked revision whatever became of the tag, but for two kinds of entries: one
// that the lock had lost, and one that has changed and not its hashes, which is
// seldom a new version.
func (r *run) asksName(n *node, entry lockfile.Module) bool {
	if r.req.Offline {
		return false
	}
	if _, lost := r.restored.entry(entry.Key); lost {
		return true
	}
	if r.isFormer(entry) || r.cache.Confirmed(named+n.claim(entry)) {
		return false
	}
	old, ok := r.formerEntry(entry.Key)
	return r.req.Locked || ok && slices.Equal(old.Hashes, entry.Hashes)
}

// confirm notes that the origin confirmed an entry, and with name also that the
// tag leads there by which the entry was locked.
func (r *run) confirm(n *node, entry lockfile.Module, name bool) {
	claim := n.claim(entry)
	r.confirmed.mu.Lock()
	defer r.confirmed.mu.Unlock()
	r.confirmed.claims = append(r.confirmed.claims, claim)
	if name {
		r.confirmed.claims = append(r.confirmed.claims, named+claim)
	}
}

// confirmed are the claims that origins confirmed in a session and that are
// still to be kept.
type confirmed struct {
	mu     sync.Mutex
	claims []string
}

// keep keeps them for later runs. It does what it can: a cache may be read-only.
func (c *confirmed) keep(in *pkgcache.Cache) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = in.Confirm(c.claims...)
	c.claims = nil
}

// claim is what an entry says of a call. A call in a package may lead to less
// than one of the user's may.
func (n *node) claim(entry lockfile.Module) string {
	if n.untrusted() {
		return "in a package: " + claim(entry)
	}
	return claim(entry)
}

// formerLock is the lock as the last run in a project left it; nil where that
// is not known. The lock as it is now is given to spare another look at it.
func formerLock(work *project.Project, src []byte, lock *lockfile.File) *lockfile.File {
	former := work.FormerLock()
	if former == nil {
		return nil
	}
	if bytes.Equal(former, src) {
		return lock
	}
	parsed, diags := lockfile.Parse(former, "")
	if diags.HasErrors() {
		return nil
	}
	return parsed
}
