package lockentry_test

import (
	"slices"
	"testing"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

func TestStatements(t *testing.T) {
	t.Parallel()
	entry := lockfile.Module{
		Key: "net", Version: versions.MustParse("1.2.0"), Source: testenv.Source("registry.opentofu.org/acme/net/aws"),
		Package: testenv.Package("https://example.com/net.zip"), Hashes: []hashing.Hash{"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},
	}
	call := lockentry.Call{Source: entry.Source}
	inPackage := lockentry.Call{Source: entry.Source, FromPackage: true}
	own, other := lockentry.StatementsOf(entry, call), lockentry.StatementsOf(entry, inPackage)
	if own.Package == own.Ref || own.Ref == own.History || own.Package == other.Package || own.Ref == other.Ref || own.History == other.History {
		t.Errorf("different statements are equal: %q, %q", own, other)
	}
	changed := entry
	changed.Key, changed.Constraints = "other", versions.MustParseConstraints("~> 1.2")
	if lockentry.StatementsOf(changed, call) != own {
		t.Error("the statements depend on the key and the constraint")
	}
	if changed.Version = versions.MustParse("1.3.0"); lockentry.StatementsOf(changed, call) == own {
		t.Error("the statements of another version are equal")
	}
	stored := evidence.Evidence{Kind: evidence.Imported}
	all := lockentry.AllStatements(artifact.StatementOf(entry))
	if want := []string{own.Package.For(stored), own.Ref.For(stored), other.Package.For(stored), other.Ref.For(stored)}; !slices.Equal(all, want) {
		t.Errorf("got %q, want %q", all, want)
	}
	entry.Package = testenv.Package("file:///home/user/net.zip")
	if slices.Contains(lockentry.AllStatements(artifact.StatementOf(entry)), lockentry.StatementsOf(entry, inPackage).Package.For(stored)) {
		t.Error("a local file is confirmed for a call in a package")
	}
}

// What an origin has confirmed counts for one address, and what a store has confirmed for what locks show of it.
func TestStatementsOfAddresses(t *testing.T) {
	t.Parallel()
	full := lockfile.Module{Key: "net", Source: testenv.Source("https://example.com/net.zip?sha=a"), Package: testenv.Package("https://example.com/net.zip"), Hashes: []hashing.Hash{"h1:A"}}
	short := full
	short.Source = testenv.Source("https://example.com/net.zip")
	call := lockentry.Call{Source: full.Source, Mark: "one"}
	asked := lockentry.StatementsOf(full, call).Package
	for _, test := range []struct {
		name             string
		entry            lockfile.Module
		call             lockentry.Call
		byOrigin, stored bool
	}{
		{"the same", full, call, true, true},
		{"an entry without arguments", short, call, true, true},
		{"a call that shows no arguments", short, lockentry.Call{Source: short.Source, Mark: "one"}, true, false},
		{"another address", full, lockentry.Call{Source: full.Source, Mark: "two"}, false, true},
		{"another argument in the lock", short, lockentry.Call{Source: testenv.Source("https://example.com/net.zip?sha=b"), Mark: "two"}, false, false},
	} {
		for e, want := range map[evidence.Evidence]bool{{Kind: evidence.Origin}: test.byOrigin, {Kind: evidence.User}: test.byOrigin, {Kind: evidence.Imported}: test.stored} {
			var memos evidencerules.Memos
			memos.Add(e, asked.For(e))
			if found := lockentry.StatementsOf(test.entry, test.call).Package.Find(&memos); found.IsZero() == want {
				t.Errorf("%s: found %v of what %v has confirmed", test.name, found, e)
			}
		}
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	a := lockfile.Module{Version: versions.MustParse("1.0.0"), Source: testenv.Source("acme/net/aws"), Package: testenv.Package("https://example.com/p.zip"), Hashes: []hashing.Hash{"h1:A"}}
	b := a
	if got := lockentry.Differences(a, b); len(got) > 0 {
		t.Errorf("the same entries differ: %q", got)
	}
	b.Version, b.Hashes = versions.MustParse("1.1.0"), []hashing.Hash{"h1:B"}
	want := []string{`its version is "1.0.0" and not "1.1.0"`, `its h1 hash is "h1:A" and not "h1:B"`}
	if got := lockentry.Differences(a, b); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
