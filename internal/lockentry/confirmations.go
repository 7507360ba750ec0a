package lockentry

import (
	"sync"

	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/lockfile"
)

// Confirmations knows which entries of a lock origins have confirmed. Its exported fields must
// not change while it is in use. It is safe for concurrent use.
//
// A call in a package from elsewhere may use fewer locations than a call in one of the user's own
// modules. So each confirmation holds only for one of the two, which is given as fromPackage.
type Confirmations struct {
	// Former is the lock of the last run in the project, or nil if it is not known.
	Former *lockfile.File
	// FormerConfirmed reports whether all entries of Former were confirmed. Entries of vendored
	// packages may be unconfirmed.
	FormerConfirmed bool
	// Recorded reports whether the cache has a record.
	Recorded func(record string) bool

	mu sync.Mutex
	// pending are the records that Keep will write.
	pending []string
}

// HasEntry reports whether an origin has confirmed an entry.
func (cs *Confirmations) HasEntry(entry lockfile.Module, fromPackage bool) bool {
	return cs.IsFormer(entry) || cs.Recorded(Record(entry, fromPackage))
}

// HasName reports whether an origin has confirmed that the tag of an entry points to the locked
// revision.
func (cs *Confirmations) HasName(entry lockfile.Module, fromPackage bool) bool {
	return cs.IsFormer(entry) || cs.Recorded(byName+Record(entry, fromPackage))
}

// Add adds the confirmation of an entry by its origin. If name is set, the origin has also
// confirmed the entry's tag.
func (cs *Confirmations) Add(entry lockfile.Module, fromPackage, name bool) {
	text := Record(entry, fromPackage)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.pending = append(cs.pending, text)
	if name {
		cs.pending = append(cs.pending, byName+text)
	}
}

// Keep records the added confirmations in a cache for later runs. It ignores errors, because the
// cache may be read-only; the origins are then asked again.
func (cs *Confirmations) Keep(cache interface{ Confirm(records ...string) error }) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	_ = cache.Confirm(cs.pending...)
	cs.pending = nil
}

// FormerEntry returns the entry that a call had after the last run in this project.
func (cs *Confirmations) FormerEntry(key string) (lockfile.Module, bool) {
	if cs.Former == nil {
		return lockfile.Module{}, false
	}
	return cs.Former.Module(key)
}

// IsFormer reports whether the last run in this project had the same entry and it was confirmed.
func (cs *Confirmations) IsFormer(entry lockfile.Module) bool {
	old, ok := cs.FormerEntry(entry.Key)
	return ok && cs.FormerConfirmed && modpkg.StatementOf(old).String() == modpkg.StatementOf(entry).String()
}

// byName is the prefix of the record that the entry's tag was confirmed.
const byName = "by name: "

// Record returns the record of a confirmed entry in the cache.
func Record(entry lockfile.Module, fromPackage bool) string {
	return recordOf(modpkg.StatementOf(entry), fromPackage)
}

func recordOf(statement modpkg.Statement, fromPackage bool) string {
	if fromPackage {
		return "in a package: " + statement.String()
	}
	return statement.String()
}

// Records returns all records of a statement that is confirmed for every call, including the
// confirmation of its tag.
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
