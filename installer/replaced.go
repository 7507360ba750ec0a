package installer

import (
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
)

// entriesIn returns the entries of a lock, and those that calls had before their sources were replaced.
func entriesIn(lock *lockfile.File) []lockfile.Module {
	all := lock.Modules()
	for _, entry := range slices.Concat(all, lock.Directories()) {
		if before, ok := entryBefore(entry, entry.Replaces); ok {
			all = append(all, before)
		}
	}
	return all
}

// entriesOf returns those of one call.
func entriesOf(lock *lockfile.File, key string) []lockfile.Module {
	entry, locked := lock.Module(key)
	if !locked {
		directory, ok := lock.Directory(key)
		if before, had := entryBefore(directory, directory.Replaces); ok && had {
			return []lockfile.Module{before}
		}
		return nil
	}
	if before, had := entryBefore(entry, entry.Replaces); had {
		return []lockfile.Module{entry, before}
	}
	return []lockfile.Module{entry}
}

// entryBefore returns the entry of a call from before its source was replaced, if an entry of the call is or has
// one. A tool that does not know the nested block may have kept it for another source.
func entryBefore(entry lockfile.Module, replaces addrs.ModuleSource) (lockfile.Module, bool) {
	switch {
	case replaces == nil:
	case entry.Replaces == nil && addrs.SameRecord(entry.Source, replaces):
		entry.Replaced = nil
		return entry, true
	case entry.Replaced != nil && addrs.SameRecord(entry.Replaced.Source, replaces):
		return *entry.Replaced, true
	}
	return lockfile.Module{}, false
}
