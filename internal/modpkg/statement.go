package modpkg

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// Statement is what a lock entry states about a package, independent of the call.
type Statement struct {
	// Source, Version and Package have the same meaning as in [lockfile.Module].
	Source, Version, Package string
	// Hashes are the known hashes, sorted.
	Hashes []hashing.Hash
}

// StatementOf returns the statement of a lock's entry.
func StatementOf(entry lockfile.Module) Statement {
	s := Statement{Source: entry.Source, Version: entry.Version, Package: entry.Package}
	for _, h := range entry.Hashes {
		if h.Known() {
			s.Hashes = append(s.Hashes, h)
		}
	}
	slices.Sort(s.Hashes)
	return s
}

// Hash returns the statement's hash with a scheme, or "" if it has none.
func (s Statement) Hash(scheme string) hashing.Hash {
	for _, h := range s.Hashes {
		if h.Scheme() == scheme {
			return h
		}
	}
	return ""
}

// String returns the statement as text. Different statements have different texts.
func (s Statement) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %q", s.Source, s.Version, s.Package)
	for _, h := range s.Hashes {
		fmt.Fprintf(&b, " %q", h)
	}
	return b.String()
}

// EntryTag is the prefix of the tags of all statements.
const EntryTag = "entry-"

// Tag returns the tag of the artifact with this statement.
func (s Statement) Tag() string {
	sum := sha256.Sum256([]byte(s.String()))
	return EntryTag + hex.EncodeToString(sum[:])
}

// ContentTag returns the tag of an artifact whose tree has this t1 hash.
func ContentTag(t1 hashing.Hash) string { return store.FileName(t1) }
