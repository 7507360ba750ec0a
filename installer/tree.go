package installer

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/project/detect"
	"github.com/cotterpin/cotter/lockfile"
)

// resolvedTree is the module tree of an installation, whose packages are all staged or installed. If the
// request allows errors in the configuration, calls may be missing. What an earlier run has installed for them
// stays.
type resolvedTree struct {
	// modules were found, and calls were seen. Both are sorted by path.
	modules  []*module
	calls    []*call
	failures *failures
	// restored has the entries that the lock had lost, by key, and earlier is the lock that they were in.
	restored map[string]lockfile.Module
	earlier  *lockfile.File
	// replaced has the entries that calls had before their sources were replaced, by key.
	replaced map[string]*lockfile.Module
	// hostless is the first call whose registry host depends on the stock tool; nil if there is none.
	hostless *call
	// isPart says that the configuration may have any other calls.
	isPart bool
}

// mayHave reports whether the configuration may have a call that was not seen.
func (t resolvedTree) mayHave(key string) bool {
	if t.isPart && !slices.ContainsFunc(t.modules, func(m *module) bool { return m.Key() == key }) {
		return true
	}
	return t.failures.HasAtOrAbove(pathOf(key))
}

func firstHostless(calls []*call) *call {
	i := slices.IndexFunc(calls, func(c *call) bool {
		block, from := c.Written()
		_, ok := from.Address.(addrs.ModuleSourceRegistry)
		return ok && detect.ImpliesHost(block.Source)
	})
	if i < 0 {
		return nil
	}
	return calls[i]
}

func takeRefusals(f *failures) (refused []*refusal) {
	for _, failure := range f.Take(isType[*refusal]) {
		r, _ := errors.AsType[*refusal](failure.Err)
		refused = append(refused, r)
	}
	return refused
}

// lockedError returns nil if there are no reasons.
func lockedError(lockFile string, reasons []LockedReason) error {
	if len(reasons) == 0 {
		return nil
	}
	slices.SortFunc(reasons, func(a, b LockedReason) int {
		return cmp.Or(strings.Compare(a.Path.String(), b.Path.String()), a.Provider.Compare(b.Provider))
	})
	return &LockedError{LockFile: lockFile, Reasons: reasons}
}
