package evidence

import (
	"fmt"
	"time"
)

// Kind says who confirms a package.
type Kind int

// The kinds of evidence, from the weakest to the strongest.
const (
	// None is the zero value: nothing confirms the package.
	None Kind = iota
	// Installed means that the package is installed in the project, with a hash of this project's
	// lock if there is one, and that Options.TrustInstalled says that this is enough.
	Installed
	// Project means that the project has brought the package of a provider itself: in
	// terraform.d/plugins, or in another directory of the project that serves as a mirror. The
	// package has a hash of this project's lock, but nothing else confirms it.
	Project
	// User means that the user has accepted the package of one call in spite of what its origin
	// says.
	User
	// Mirror means that a mirror or a bundle that the user named has the package for exactly
	// this entry of the lock.
	Mirror
	// Imported means that the user has imported a bundle with this entry into the cache.
	Imported
	// Origin means that the origin says so: the registry, the repository, or the server of an
	// archive.
	Origin
	// Signature means that the registry of a provider says so, in a document of sums that is
	// signed by one of the provider's keys.
	Signature
)

var kinds = [...]struct{ name, meaning string }{
	None:      {"none", "not confirmed"},
	Installed: {"installed", "as installed, not confirmed"},
	Project:   {"project", "from this repository, unsigned"},
	User:      {"user", "accepted by the user"},
	Mirror:    {"mirror", "a mirror or bundle that the user named"},
	Imported:  {"imported", "a bundle that the user imported"},
	Origin:    {"origin", "its origin"},
	Signature: {"signature", "its registry, with a signature"},
}

// String returns the name of the kind, in one word.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kinds) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return kinds[k].name
}

// MarshalText returns the name of the kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse of [Kind.MarshalText].
func (k *Kind) UnmarshalText(text []byte) error {
	for i, kind := range kinds {
		if kind.name == string(text) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not a kind of evidence", text)
}

// Evidence is who confirms a package, and since when. The zero value confirms nothing.
type Evidence struct {
	// Kind is, as text, "origin", "signature", "mirror", "imported", "user", "project", "installed" or "none".
	Kind Kind `json:"kind"`
	// By is the name of a mirror or a bundle, the ID and the name of the key of a Signature, or
	// the directory of a project. It is "" for User and Imported, and for Origin, whose address is that of the
	// package.
	By string `json:"by,omitempty"`
	// Since is when it was asked. It is zero for evidence of the current run.
	Since time.Time `json:"since,omitzero"`
}

// IsZero reports whether nothing confirms the package.
func (e Evidence) IsZero() bool { return e.Kind == None }

// String describes the evidence in a few words: "its origin", "the mirror oci://HOST/REPOSITORY".
func (e Evidence) String() string {
	switch {
	case e.Kind < 0 || int(e.Kind) >= len(kinds):
		return e.Kind.String()
	case e.By == "":
	case e.Kind == Mirror:
		return e.By
	case e.Kind == Signature:
		return "its registry, signed by the key " + e.By
	}
	return kinds[e.Kind].meaning
}

// Identity returns a text that is equal for evidence from the same place. The answers of a
// provider's registry count alike with different keys, because registries replace their keys.
func (e Evidence) Identity() string {
	switch e.Kind {
	case Origin, Signature:
		return Origin.String()
	case User, Imported:
		return e.Kind.String()
	}
	return e.Kind.String() + " " + e.By
}
