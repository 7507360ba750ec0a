package cotter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/lockfile"
)

// ContentChangedError says that what is never to change has other content than the
// lock: a version was published again, a version tag was moved, or an archive was
// replaced. An update that takes it needs Request.AcceptChanged.
type ContentChangedError struct {
	// Key is the path of the module call, with dots.
	Key string
	// Name is the version, the tag or the address.
	Name string
	// Locked and Now are the commits or digests, or for archives the h1 hashes,
	// of the lock and of the origin.
	Locked, Now string
}

func (e *ContentChangedError) Error() string {
	return fmt.Sprintf("%s; if you know why, cotter update %s --accept-changed %s takes it", e.Change(), e.Key, e.Key)
}

// Change is the change in a few words.
func (e *ContentChangedError) Change() string {
	return fmt.Sprintf("%s has OTHER CONTENT than the lock (%s -> %s)", e.Name, shortIdentity(e.Locked), strings.TrimPrefix(shortIdentity(e.Now), "commit "))
}

// checkContent refuses an entry that gives a locked version other content.
func (r *run) checkContent(n *node, entry lockfile.Module) error {
	old, had := r.lock.Module(entry.Key)
	if !had && r.lockSrc != nil {
		old, had = r.formerEntry(entry.Key)
	}
	if !had || slices.Contains(r.req.AcceptChanged, entry.Key) {
		return nil
	}
	if changed := contentChange(n, old, entry); changed != nil {
		return changed
	}
	return nil
}

// contentChange compares two entries of one call; nil if the content is the same,
// or may differ.
func contentChange(n *node, old, entry lockfile.Module) *ContentChangedError {
	name, fixed := n.fixedName(old, entry)
	if !fixed || old.Source != entry.Source || sameContent(old, entry) {
		return nil
	}
	changed := &ContentChangedError{Key: entry.Key, Name: name, Locked: revisionOf(old.Package), Now: revisionOf(entry.Package)}
	if changed.Locked == changed.Now { // archives have none
		changed.Locked, changed.Now = string(hashOfScheme(old, "h1")), string(hashOfScheme(entry, "h1"))
	}
	return changed
}

// fixedName is the name that both entries of a call go by if its content is never
// to change: a version, a tag that is one, the address of an archive. Branches,
// other tags and directories of this machine may change.
func (n *node) fixedName(old, entry lockfile.Module) (string, bool) {
	if n.hasVersions() {
		return entry.Version, old.Version == entry.Version
	}
	remote, ok := n.source.(addrs.ModuleSourceRemote)
	if !ok {
		return "", false
	}
	switch remote.Package.Getter() {
	case "git", "oci":
		name, exact := remote.Package.Ref()
		return name, exact || isVersionTag(name, n.source)
	case "file", "hg":
		return "", false
	}
	// An address that redirects to a repository may mean one of its branches.
	return remote.Package.Redacted(), revisionOf(old.Package) == "" && revisionOf(entry.Package) == ""
}

// sameContent compares by the strongest hash that both entries have.
func sameContent(a, b lockfile.Module) bool {
	for _, scheme := range []string{"t1", "h1"} {
		x, y := hashOfScheme(a, scheme), hashOfScheme(b, scheme)
		if x != "" && y != "" {
			return x == y
		}
	}
	return false
}

// shortIdentity is a commit, digest or hash as a message shows it.
func shortIdentity(id string) string {
	const commit, digits = 7, 12
	switch scheme, value, found := strings.Cut(id, ":"); {
	case found && hashing.Hash(id).Known(), found && len(value) > digits:
		return scheme + ":" + value[:min(digits, len(value))]
	case len(id) > commit:
		return "commit " + id[:commit]
	}
	return id
}
