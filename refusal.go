package cotter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// refusals collects the module calls without a usable lock entry, in a run that must not
// change the lock. They are reported together.
type refusals struct {
	mu      sync.Mutex
	reasons []LockedReason
	// lost says that the lock had the entry of one of the calls.
	lost bool
}

// add records why the entry of a call cannot be used, and returns errRefused.
func (r *refusals) add(c *call, reason string) error {
	return r.note(LockedReason{Key: c.key(), Range: c.Range, Reason: reason})
}

// addMissing is like add, for a call without an entry.
func (r *refusals) addMissing(c *call, reason string) error {
	return r.note(LockedReason{Key: c.key(), Range: c.Range, Reason: reason, Missing: true})
}

// addLost is like addMissing, for a call whose entry the lock has lost.
func (r *refusals) addLost(c *call) error {
	r.mu.Lock()
	r.lost = true
	r.mu.Unlock()
	return r.addMissing(c, "the lock has no entry for it any more, as happens when tofu or terraform rewrite it")
}

func (r *refusals) note(reason LockedReason) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reasons = append(r.reasons, reason)
	return errRefused
}

// err returns all collected refusals as one error, or nil.
func (r *refusals) err(lockFile string) error {
	if len(r.reasons) == 0 {
		return nil
	}
	slices.SortFunc(r.reasons, func(a, b LockedReason) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), a.Provider.Compare(b.Provider))
	})
	return &LockedError{LockFile: lockFile, Reasons: r.reasons}
}

// warningOfRestored returns the warning about entries that were restored from the copy.
func warningOfRestored(keys []string, lockFile string) string {
	if len(keys) == 1 {
		return fmt.Sprintf("%s had lost its entry for module %s, as happens when tofu or terraform rewrite it; it is put back from the copy of the last run", lockFile, keys[0])
	}
	return fmt.Sprintf("%s had lost its entries for %d modules (%s), as happens when tofu or terraform rewrite it; they are put back from the copy of the last run",
		lockFile, len(keys), strings.Join(shortened(keys), ", "))
}

// maxNamed is the maximum number of names in a sentence.
const maxNamed = 5

func shortened(names []string) []string {
	if len(names) <= maxNamed {
		return names
	}
	return append(slices.Clone(names[:maxNamed]), "...")
}
