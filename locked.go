package cotter

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/addrs"
)

// errRefused marks a node that is among the refusals, which are reported
// together.
var errRefused = errors.New("the lock may not change")

// refusals collects the module calls that the lock does not decide, in a run
// that may not change it.
type refusals struct {
	mu      sync.Mutex
	reasons []LockedReason
}

func (r *refusals) add(n *node, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reasons = append(r.reasons, LockedReason{Key: n.path.String(), Range: n.call.Range, Reason: reason})
}

// err is all that was collected, or nil.
func (r *refusals) err(lockFile string) error {
	if len(r.reasons) == 0 {
		return nil
	}
	slices.SortFunc(r.reasons, func(a, b LockedReason) int { return compareKeys(a.Key, b.Key) })
	return &LockedError{LockFile: lockFile, Reasons: r.reasons}
}

// refuseChanges is what a finished plan still would change in the lock, in a
// run that may not.
func (r *run) refuseChanges(changes []LockChange) error {
	if !r.req.Locked {
		return nil
	}
	var refused refusals
	for _, change := range changes {
		reason := "the lock's entry is not what this configuration gives"
		if change.New == "" {
			reason = "the lock has an entry for a call that is gone"
		}
		refused.reasons = append(refused.reasons, LockedReason{Key: change.Key, Reason: reason})
	}
	return refused.err(r.req.lockFile())
}

func compareKeys(a, b string) int { return cmp.Compare(a, b) }

// validKey reports whether a key from a file can be that of a module call.
func validKey(key string) bool {
	path, err := addrs.ParseModule(key)
	return err == nil && !path.IsRoot()
}

// splitKey is the path of a key that is known to be valid.
func splitKey(key string) addrs.Module {
	path, _ := addrs.ParseModule(key)
	return path
}
