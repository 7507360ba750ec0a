package installer

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/detect"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/lockfile"
)

// outcome is what a walk finds out besides the modules. It is complete when the walk ends.
type outcome struct {
	refusals refusals
	// restored has the entries that the lock had lost.
	restored lockentry.Restored
	// hostless is the first call whose registry host depends on the stock tool.
	hostless hostlessCall
}

// resolvedTree is the module tree of an installation. All of its packages are staged or
// installed.
//
// If the request allows errors in the configuration, the tree may lack calls below the modules
// that could not be read. What an earlier run has installed for them stays.
type resolvedTree struct {
	// modules is sorted by path.
	modules []*module
	// failures are the modules that failed.
	failures *failures
	// restored has the entries that the lock had lost.
	restored *lockentry.Restored
	// earlier is the lock that they were in; nil if nothing was restored.
	earlier *lockfile.File
	// hostless is the first call whose registry host depends on the stock tool; nil if
	// there is no such call.
	hostless *call
	// isPart says that the configuration may have any other calls.
	isPart bool
}

// mayHave reports whether the configuration may have a call that was not seen: the tree is only a
// part of it, or a module above the call could not be read.
func (t resolvedTree) mayHave(key string) bool {
	if t.isPart && !slices.ContainsFunc(t.modules, func(m *module) bool { return m.key() == key }) {
		return true
	}
	return t.failures.hasAtOrAbove(pathOf(key))
}

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
	return r.note(LockedReason{Path: c.path, Range: c.placeOfSource(), Reason: reason})
}

// addMissing is like add, for a call without an entry.
func (r *refusals) addMissing(c *call, reason string) error {
	return r.note(LockedReason{Path: c.path, Range: c.placeOfSource(), Reason: reason, Missing: true})
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
		return cmp.Or(strings.Compare(a.Path.String(), b.Path.String()), a.Provider.Compare(b.Provider))
	})
	return &LockedError{LockFile: lockFile, Reasons: r.reasons}
}

// hostlessCall is the first call, by path, of a registry's module whose host depends on the
// stock tool.
type hostlessCall struct {
	mu    sync.Mutex
	first *call
}

func (h *hostlessCall) note(c *call) {
	block, from := c.written()
	if _, ok := from.Address.(addrs.ModuleSourceRegistry); !ok || !detect.ImpliesHost(block.Source) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first == nil || strings.Compare(c.key(), h.first.key()) < 0 {
		h.first = c
	}
}
