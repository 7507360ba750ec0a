package cotter

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/lockfile"
)

// restored are entries that the lock had after the last run and has lost since.
// Stock tools drop module blocks when they rewrite their provider locks. To
// choose anew in silence would make the lock worthless.
type restored struct {
	mu      sync.Mutex
	entries map[string]lockfile.Module
}

// lostEntry returns the entry that the lock had for just this call after the last
// run, and notes that it is put back. A lock file that is gone altogether was
// removed by a user who wants a new one.
func (r *run) lostEntry(n *node) (lockfile.Module, bool) {
	key := n.path.String()
	entry, ok := r.formerEntry(key)
	if r.lockSrc == nil || !ok || staleness(entry, n) != "" || r.req.upgrades(key) {
		return lockfile.Module{}, false
	}
	if r.req.Locked {
		return entry, true // which the caller refuses
	}
	r.restored.mu.Lock()
	defer r.restored.mu.Unlock()
	if r.restored.entries == nil {
		r.restored.entries = make(map[string]lockfile.Module)
	}
	r.restored.entries[key] = entry
	return entry, true
}

// checkLost refuses a lock that has lost all of its entries, in a run that may not
// change it: that is one problem and not one for each call.
func (r *run) checkLost() error {
	if !r.req.Locked || r.lockSrc == nil || len(r.lock.Modules()) > 0 {
		return nil
	}
	if former := r.former(); former == nil || len(former.Modules()) == 0 {
		return nil
	}
	return fmt.Errorf("the module entries of %s have vanished, as when tofu or terraform rewrite it; run cotter restore", r.req.lockFile())
}

func (r *restored) any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.entries) > 0
}

func (r *restored) entry(key string) (lockfile.Module, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry, ok := r.entries[key]
	return entry, ok
}

// warning tells the user what is put back; "" if nothing is.
func (r *restored) warning(lockFile string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := slices.Sorted(maps.Keys(r.entries))
	switch len(keys) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s had lost its entry for module %s, as when tofu or terraform rewrite it; it is put back from the copy of the last run", lockFile, keys[0])
	}
	return fmt.Sprintf("%s had lost its entries for %d modules (%s), as when tofu or terraform rewrite it; they are put back from the copy of the last run",
		lockFile, len(keys), strings.Join(shortened(keys), ", "))
}

// maxNamed is how many names a sentence lists.
const maxNamed = 5

func shortened(names []string) []string {
	if len(names) <= maxNamed {
		return names
	}
	return append(slices.Clone(names[:maxNamed]), "...")
}
