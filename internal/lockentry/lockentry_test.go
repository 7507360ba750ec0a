package lockentry_test

import (
	"slices"
	"testing"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/artifact"
	"github.com/cotterpin/cotter/internal/lockentry"
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
	own, inPackage := lockentry.StatementsOf(entry, false), lockentry.StatementsOf(entry, true)
	if own.Package == own.Ref || own.Ref == own.History || own.Package == inPackage.Package || own.Ref == inPackage.Ref || own.History == inPackage.History {
		t.Errorf("different statements are equal: %q, %q", own, inPackage)
	}
	other := entry
	if other.Key, other.Constraints = "other", versions.MustParseConstraints("~> 1.2"); lockentry.StatementsOf(other, false) != own {
		t.Error("the statements depend on the call")
	}
	if other.Version = versions.MustParse("1.3.0"); lockentry.StatementsOf(other, false) == own {
		t.Error("the statements of another version are equal")
	}
	all := lockentry.AllStatements(artifact.StatementOf(entry))
	if want := []string{own.Package, own.Ref, inPackage.Package, inPackage.Ref}; !slices.Equal(all, want) {
		t.Errorf("got %q, want %q", all, want)
	}
	entry.Package = testenv.Package("file:///home/user/net.zip")
	if slices.Contains(lockentry.AllStatements(artifact.StatementOf(entry)), lockentry.StatementsOf(entry, true).Package) {
		t.Error("a local file is confirmed for a call in a package")
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
