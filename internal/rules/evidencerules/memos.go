package evidencerules

import (
	"slices"
	"sync"
	"time"

	"github.com/cotterpin/cotter/installer/evidence"
)

// Memos are what earlier runs of the user have learned about statements. Its exported fields
// must not change while it is in use. It is safe for concurrent use.
type Memos struct {
	// Named is the evidence that the mirrors and bundles of this run give. What other mirrors
	// have confirmed in earlier runs does not count.
	Named []evidence.Evidence
	// Recorded reports whether an earlier run of this user has kept a record, and when. It may be nil.
	Recorded func(record string) (since time.Time, ok bool)

	mu sync.Mutex
	// added are the records of this run, and pending those of them that Take has not returned.
	added   map[string]bool
	pending []string
}

// Find returns the evidence for a statement, of this run or of an earlier one, or the zero Evidence.
func (m *Memos) Find(statement string) evidence.Evidence {
	for _, e := range slices.Concat([]evidence.Evidence{{Kind: evidence.Origin}}, m.Named, []evidence.Evidence{{Kind: evidence.Imported}, {Kind: evidence.User}}) {
		record := Record(e, statement)
		if m.hasAdded(record) {
			return e
		}
		if m.Recorded == nil {
			continue
		}
		if since, ok := m.Recorded(record); ok {
			e.Since = since
			return e
		}
	}
	return evidence.Evidence{}
}

func (m *Memos) hasAdded(record string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.added[record]
}

// Add keeps evidence for statements. What a project has brought or installed is not kept, because the
// next run finds it there again.
func (m *Memos) Add(e evidence.Evidence, statements ...string) {
	if e.Kind == evidence.None || e.Kind == evidence.Installed || e.Kind == evidence.Project {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, statement := range statements {
		record := Record(e, statement)
		if m.added[record] {
			continue
		}
		if m.added == nil {
			m.added = make(map[string]bool)
		}
		m.added[record], m.pending = true, append(m.pending, record)
	}
}

// Take returns the records of the evidence that was added since the last call, for storing.
func (m *Memos) Take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.pending
	m.pending = nil
	return taken
}

// Record returns the text under which evidence for a statement is kept. It covers the statement
// and the source of the evidence. The number changes when older evidence must no longer count.
func Record(e evidence.Evidence, statement string) string {
	return "evidence 1 of " + e.Identity() + ": " + statement
}
