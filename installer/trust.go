package installer

import (
	"slices"
	"time"

	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/evidencerules"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// trust is what a run may believe, and what earlier runs have learned.
type trust struct {
	rule  evidencerules.Rule
	memos *evidencerules.Memos
	// former is the lock of the last run; nil if it is not known.
	former *lockfile.File
	// accepted are the entries whose commits the user accepts although no branch or tag contains them.
	accepted []lockfile.Module
}

// newTrust returns what a run may believe by a rule. named is the evidence that its mirrors and bundles give,
// and recorded finds the records in the user's cache.
func newTrust(p *openProject, rule evidencerules.Rule, named []evidence.Evidence, recorded func(string) (time.Time, bool)) *trust {
	t := &trust{
		rule: rule, former: p.former,
		memos: &evidencerules.Memos{Named: named, Recorded: func(record string) (time.Time, bool) {
			if p.files != nil {
				if since, ok := p.files.Confirmed(record); ok {
					return since, true
				}
			}
			return recorded(record)
		}},
	}
	for _, path := range p.req.AcceptUnreachable {
		key := path.String()
		entry, _ := p.lock.Module(key)
		entry.Key = key // the lock may have lost the entry
		t.accepted = append(t.accepted, entry)
	}
	return t
}

// offlineTrust is newTrust for a run that sends no requests. It reads the cache without opening it; cacheDir is
// "" if there is none.
func offlineTrust(p *openProject, rule evidencerules.Rule, named []evidence.Evidence, cacheDir string) *trust {
	return newTrust(p, rule, named, func(record string) (time.Time, bool) {
		if cacheDir == "" {
			return time.Time{}, false
		}
		return store.ViewModules(cacheDir, p.user.key).Confirmed(record)
	})
}

// believesInstalled reports whether an installed package needs no other evidence.
func (t *trust) believesInstalled() bool {
	return t.rule.Accepts(evidence.Evidence{Kind: evidence.Installed}) && !t.rule.Accepts(evidence.Evidence{})
}

// accepts reports whether the user accepts the commit of an entry, for its call or another call of the source.
func (t *trust) accepts(entry lockfile.Module) bool {
	return slices.ContainsFunc(t.accepted, func(a lockfile.Module) bool {
		return a.Key == entry.Key || a.Source == entry.Source && a.Package == entry.Package
	})
}

// find returns the evidence for a statement that is at hand and counts in the run.
func (t *trust) find(statement string) evidence.Evidence {
	if !t.rule.Memos {
		return evidence.Evidence{}
	}
	return t.memos.Find(statement)
}

// evidenceOf returns the evidence for an entry that is at hand.
func (t *trust) evidenceOf(entry lockfile.Module, fromPackage bool) evidence.Evidence {
	return t.find(lockentry.StatementsOf(entry, fromPackage).Package)
}

// isFormer reports whether the last run had the same entry, and something that counts had confirmed it.
func (t *trust) isFormer(entry lockfile.Module, fromPackage bool) bool {
	old, ok := t.former.Module(entry.Key)
	statements := lockentry.StatementsOf(entry, fromPackage)
	return ok && lockentry.StatementsOf(old, fromPackage) == statements && !t.find(statements.Package).IsZero()
}

// isEdited reports whether an entry has other data than after the last run, but the same hashes. Such a change
// is rarely a new version.
func (t *trust) isEdited(entry lockfile.Module) bool {
	old, ok := t.former.Module(entry.Key)
	return ok && slices.Equal(old.Hashes, entry.Hashes) && lockentry.StatementsOf(old, false) != lockentry.StatementsOf(entry, false)
}

// recordsOf returns the records of the packages' evidence, which the project keeps.
func (t *trust) recordsOf(modules []*module) map[string]time.Time {
	records, now := make(map[string]time.Time), time.Now()
	for _, m := range modules {
		if !m.ownsPackage() || m.pkg.evidence.Kind <= evidence.Project {
			continue
		}
		e, statements := m.pkg.evidence, lockentry.StatementsOf(m.pkg.entry, m.call.from.FromPackage)
		if e.Since.IsZero() {
			e.Since = now
		}
		records[evidencerules.Record(e, statements.Package)] = e.Since
		for _, statement := range []string{statements.Ref, statements.History} {
			if known := t.find(statement); !known.IsZero() {
				records[evidencerules.Record(known, statement)] = e.Since
			}
		}
	}
	return records
}

// keepRecords adds those for an entry of a call that was not seen.
func (t *trust) keepRecords(records map[string]time.Time, entry lockfile.Module) {
	for _, fromPackage := range []bool{false, true} {
		statements := lockentry.StatementsOf(entry, fromPackage)
		for _, statement := range []string{statements.Package, statements.Ref, statements.History} {
			if known := t.find(statement); !known.IsZero() {
				records[evidencerules.Record(known, statement)] = known.Since
			}
		}
	}
}
