package lockentry

import (
	"maps"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/lockfile"
)

// Restored are entries that the lock had after the last run and has lost since. Stock tools drop
// module blocks when they rewrite their provider locks. If new versions were then selected
// silently, the lock would be worthless. The zero value has no entries. It is safe for concurrent
// use.
type Restored struct {
	mu      sync.Mutex
	entries map[string]lockfile.Module
}

// Add adds an entry.
func (r *Restored) Add(entry lockfile.Module) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries == nil {
		r.entries = make(map[string]lockfile.Module)
	}
	r.entries[entry.Key] = entry
}

// Any reports whether there are entries.
func (r *Restored) Any() bool { return len(r.Keys()) > 0 }

// Has reports whether there is an entry for a key.
func (r *Restored) Has(key string) bool {
	_, ok := r.Entry(key)
	return ok
}

// Entry returns the entry for a key.
func (r *Restored) Entry(key string) (lockfile.Module, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry, ok := r.entries[key]
	return entry, ok
}

// Keys returns the keys of all entries, sorted.
func (r *Restored) Keys() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.entries))
}
