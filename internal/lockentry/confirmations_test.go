package lockentry_test

import (
	"slices"
	"testing"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/lockfile"
)

// records is a cache's list of records.
type records []string

func (r *records) Confirm(texts ...string) error {
	*r = append(*r, texts...)
	return nil
}

func TestConfirmations(t *testing.T) {
	t.Parallel()
	entry := lockfile.Module{
		Key: "net", Version: "1.2.0", Source: "registry.opentofu.org/acme/net/aws",
		Package: "https://example.com/net.zip", Hashes: []hashing.Hash{"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},
	}
	var kept records
	c := &lockentry.Confirmations{Recorded: func(record string) bool { return slices.Contains(kept, record) }}
	c.Add(entry, false, false)
	if c.HasEntry(entry, false) {
		t.Error("confirmed before it is kept")
	}
	c.Keep(&kept)
	for _, test := range []struct {
		what string
		got  bool
		want bool
	}{
		{"the entry", c.HasEntry(entry, false), true},
		{"its tag, which was not asked for", c.HasName(entry, false), false},
		{"the same for a call in a package", c.HasEntry(entry, true), false},
		{"another version", c.HasEntry(lockfile.Module{Source: entry.Source, Version: "1.3.0", Package: entry.Package, Hashes: entry.Hashes}, false), false},
	} {
		if test.got != test.want {
			t.Errorf("%s: confirmed %t", test.what, test.got)
		}
	}
	kept = lockentry.Records(modpkg.StatementOf(entry))
	if !c.HasName(entry, true) || !c.HasName(entry, false) {
		t.Error("records of a statement do not confirm it for all calls")
	}
	entry.Package = "file:///home/user/net.zip"
	kept = lockentry.Records(modpkg.StatementOf(entry))
	if c.HasEntry(entry, true) {
		t.Error("a local file is confirmed for a call in a package")
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	a := lockfile.Module{Version: "1.0.0", Source: "s", Package: "p", Hashes: []hashing.Hash{"h1:A"}}
	b := a
	if got := lockentry.Differences(a, b); len(got) > 0 {
		t.Errorf("the same entries differ: %q", got)
	}
	b.Version, b.Hashes = "1.1.0", []hashing.Hash{"h1:B"}
	want := []string{`its version is "1.0.0" and not "1.1.0"`, `its h1 hash is "h1:A" and not "h1:B"`}
	if got := lockentry.Differences(a, b); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
