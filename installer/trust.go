package installer

import (
	"slices"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/lockfile"
)

// trust is what a run may believe, and what earlier runs have learned.
type trust struct {
	rule  evidencerules.Rule
	memos *evidencerules.Memos
	// former is the lock of the last run; nil if it is not known.
	former    *lockfile.File
	addresses addresses
	// accepted are the entries whose commits the user accepts although no branch or tag contains them.
	accepted []lockfile.Module
}

// newTrust returns what a run may believe by a rule. named is the evidence that its mirrors and bundles give,
// and recorded finds the records in the user's cache.
func newTrust(p *openProject, rule evidencerules.Rule, named []evidence.Evidence, recorded func(string) (time.Time, bool)) *trust {
	t := &trust{
		rule: rule, former: p.former, addresses: p.addresses(),
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
		entry, _ := p.Lock.Module(key)
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
		return a.Key == entry.Key || addrs.SameRecord(a.Source, entry.Source) && a.Package == entry.Package
	})
}

// find returns the evidence for a statement that is at hand and counts in the run.
func (t *trust) find(statement lockentry.Statement) evidence.Evidence {
	if !t.rule.Memos {
		return evidence.Evidence{}
	}
	return statement.Find(t.memos)
}

// add keeps evidence for statements.
func (t *trust) add(e evidence.Evidence, statements ...lockentry.Statement) {
	for _, statement := range statements {
		t.memos.Add(e, statement.For(e))
	}
}

// evidenceOf returns the evidence for a call's entry that is at hand.
func (t *trust) evidenceOf(entry lockfile.Module, c *call) evidence.Evidence {
	e := t.find(statementsOf(c, entry).Package)
	if t.addresses.isOther(c, entry) && !lockentry.IsOfAddress(e) {
		return evidence.Evidence{}
	}
	return e
}

// isFormer reports whether the last run had the same entry, for a call in a package, and something that counts had
// confirmed it.
func (t *trust) isFormer(entry lockfile.Module) bool {
	old, ok := t.former.Module(entry.Key)
	of := t.addresses.unseen(entry, true)
	statements := lockentry.StatementsOf(entry, of)
	return ok && lockentry.StatementsOf(old, of) == statements && !t.find(statements.Package).IsZero()
}

// isEdited reports whether an entry has other data than after the last run, but the same hashes. Such a change
// is rarely a new version.
func (t *trust) isEdited(entry lockfile.Module) bool {
	old, ok := t.former.Module(entry.Key)
	return ok && slices.Equal(old.Hashes, entry.Hashes) && len(lockentry.Differences(old, entry)) > 0
}

// recordsOf returns the records of the packages' evidence, which the project keeps.
func (t *trust) recordsOf(modules []*module) map[string]time.Time {
	records, now := make(map[string]time.Time), time.Now()
	for _, m := range modules {
		if !m.OwnsPackage() || placed(m).evidence.Kind <= evidence.Project {
			continue
		}
		e, statements := placed(m).evidence, statementsOf(m.Call, m.Package.Entry)
		if e.Since.IsZero() {
			e.Since = now
		}
		records[evidencerules.Record(e, statements.Package.For(e))] = e.Since
		for _, statement := range []lockentry.Statement{statements.Ref, statements.History} {
			if known := t.find(statement); !known.IsZero() {
				records[evidencerules.Record(known, statement.For(known))] = e.Since
			}
		}
	}
	return records
}

// keepRecords adds those for an entry of a call that was not seen.
func (t *trust) keepRecords(records map[string]time.Time, entry lockfile.Module) {
	for _, fromPackage := range []bool{false, true} {
		statements := lockentry.StatementsOf(entry, t.addresses.unseen(entry, fromPackage))
		for _, statement := range []lockentry.Statement{statements.Package, statements.Ref, statements.History} {
			if known := t.find(statement); !known.IsZero() {
				records[evidencerules.Record(known, statement.For(known))] = known.Since
			}
		}
	}
}
