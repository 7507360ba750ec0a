package treewalk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/lockfile"
)

// A fresh checkout has a lock and nothing installed. The lock has the calls of all packages that it was written
// for, so the tree can be walked without them. Positions of calls in packages, and the sources of local modules
// in them, are not known. The same holds for all calls if a program with configuration of its own has installed
// them.

// lockedCalls returns the calls of a module whose package is not installed. A local module between a package
// and the calls below it has no entry, so its source is made up. A replaced source is as in the configuration.
func (t *traversal) lockedCalls(at addrs.Module) []config.Call {
	above := ""
	if !at.IsRoot() {
		above = at.String() + "."
	}
	entries := t.locked()
	begin, _ := slices.BinarySearchFunc(entries, above, func(entry lockfile.Module, key string) int { return strings.Compare(entry.Key, key) })
	var calls []config.Call
	named := map[string]bool{}
	for _, entry := range entries[begin:] {
		rest, below := strings.CutPrefix(entry.Key, above)
		if !below {
			break
		}
		name, _, isDeeper := strings.Cut(rest, ".")
		if named[name] {
			continue
		}
		named[name] = true
		call := config.Call{Name: name, Source: "./" + cmp.Or(name, "-")} // a part of a test file's name may be empty
		if !isDeeper {
			source := cmp.Or(entry.Replaces, entry.Source)
			call.Source = source.String()
			if !entry.Constraints.IsZero() && callsource.MayOfferVersions(source) {
				if from, err := callsource.NewSource(source, nil); err == nil && !from.HasConstraint {
					call.Version = new(entry.Constraints.String())
				}
			}
		}
		calls = append(calls, call)
	}
	return calls
}

// lockedEntries returns the entries of the lock, sorted by key.
func (p *Project) lockedEntries() []lockfile.Module {
	entries := slices.Concat(p.Lock.Modules(), p.Lock.Directories())
	slices.SortFunc(entries, func(a, b lockfile.Module) int { return strings.Compare(a.Key, b.Key) })
	return entries
}

// isMadeUp reports whether a module is only a step on the way to others that the lock has.
func (m *Module) isMadeUp() bool { return m.IsLocked() && !m.OwnsPackage() }
