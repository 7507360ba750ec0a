package lockentry

import (
	"sync"

	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/lockfile"
)

// Confirmations are what origins have confirmed of a lock's entries. The exported fields
// must not change once it is in use. It is safe for concurrent use.
//
// A call in a package from elsewhere may use fewer places than one of the user's own: so
// an entry is confirmed for one or the other, as fromPackage says.
type Confirmations struct {
	// Former is the lock of the last run in the project; nil if it is not known.
	Former *lockfile.File
	// FormerConfirmed says that all entries of Former were confirmed: those of vendored
	// packages need not be.
	FormerConfirmed bool
	// Recorded reports whether the cache has a record.
	Recorded func(record string) bool

	mu sync.Mutex
	// pending are the records that are to be kept.
	pending []string
}

// HasEntry reports whether an origin has confirmed an entry.
func (cs *Confirmations) HasEntry(entry lockfile.Module, fromPackage bool) bool {
	return cs.IsFormer(entry) || cs.Recorded(Record(entry, fromPackage))
}

// HasName reports whether an origin has confirmed that the tag by which an entry was
// locked points to its revision.
func (cs *Confirmations) HasName(entry lockfile.Module, fromPackage bool) bool {
	return cs.IsFormer(entry) || cs.Recorded(byName+Record(entry, fromPackage))
}

// Add notes that the origin confirmed an entry, and with name also its tag.
func (cs *Confirmations) Add(entry lockfile.Module, fromPackage, name bool) {
	text := Record(entry, fromPackage)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.pending = append(cs.pending, text)
	if name {
		cs.pending = append(cs.pending, byName+text)
	}
}

// Keep records what was added in a cache, for later runs. A cache may be read-only: the
// origins are asked again then.
func (cs *Confirmations) Keep(cache interface{ Confirm(records ...string) error }) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	_ = cache.Confirm(cs.pending...)
	cs.pending = nil
}

// FormerEntry returns the entry that the last run in this project had.
func (cs *Confirmations) FormerEntry(key string) (lockfile.Module, bool) {
	if cs.Former == nil {
		return lockfile.Module{}, false
	}
	return cs.Former.Module(key)
}

// IsFormer reports whether the last run in this project had the same entry, confirmed.
func (cs *Confirmations) IsFormer(entry lockfile.Module) bool {
	old, ok := cs.FormerEntry(entry.Key)
	return ok && cs.FormerConfirmed && modpkg.StatementOf(old).String() == modpkg.StatementOf(entry).String()
}

// byName is in front of a record that was confirmed by the name of its revision.
const byName = "by name: "

// Record is what the cache keeps of an entry.
func Record(entry lockfile.Module, fromPackage bool) string {
	return recordOf(modpkg.StatementOf(entry), fromPackage)
}

func recordOf(statement modpkg.Statement, fromPackage bool) string {
	if fromPackage {
		return "in a package: " + statement.String()
	}
	return statement.String()
}

// Records are all records of a statement that is confirmed for any call, also by the name
// of its revision.
func Records(statement modpkg.Statement) []string {
	texts := []string{recordOf(statement, false)}
	if pkg, _ := (lockfile.Module{Package: statement.Package}).SplitPackage(); pkg.Getter() != "file" {
		texts = append(texts, recordOf(statement, true))
	}
	for _, text := range texts[:len(texts):len(texts)] {
		texts = append(texts, byName+text)
	}
	return texts
}
