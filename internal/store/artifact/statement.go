package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// Statement is what a lock entry states about a module's package, independent of the call.
type Statement struct {
	// These are texts of a [lockfile.Module].
	Source, Version, Package string
	Hashes                   []hashing.Hash
}

// StatementOf is zero for the zero value.
func StatementOf(entry lockfile.Module) Statement {
	s := Statement{Version: entry.Version.String(), Package: entry.Package.String()}
	if entry.Source != nil {
		s.Source = entry.Source.String()
	}
	for _, h := range entry.Hashes {
		if h.Known() {
			s.Hashes = append(s.Hashes, h)
		}
	}
	slices.Sort(s.Hashes)
	return s
}

// StatementsFor returns the statements that fit an entry, the best first: with a source address in the form that an
// installation writes, in that of the entry, and in the one that is not for literals. They differ only for an address
// whose arguments some locks show and some do not. source may be nil.
func StatementsFor(entry lockfile.Module, source addrs.ModuleSource) []Statement {
	var all []Statement
	for _, form := range []addrs.ModuleSource{source, entry.Source, addrs.LockForm(entry.Source, false)} {
		if form == nil || slices.ContainsFunc(all, func(s Statement) bool { return s.Source == form.String() }) {
			continue
		}
		entry.Source = form
		all = append(all, StatementOf(entry))
	}
	return all
}

// Hash returns "" for a scheme without one.
func (s Statement) Hash(scheme string) hashing.Hash {
	for _, h := range s.Hashes {
		if h.Scheme() == scheme {
			return h
		}
	}
	return ""
}

// String returns different texts for different statements.
func (s Statement) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %q", s.Source, s.Version, s.Package)
	for _, h := range s.Hashes {
		fmt.Fprintf(&b, " %q", h)
	}
	return b.String()
}

// EntryTag begins the tags of all statements.
const EntryTag = "entry-"

func (s Statement) Tag() string {
	sum := sha256.Sum256([]byte(s.String()))
	return EntryTag + hex.EncodeToString(sum[:])
}

// ContentTag returns the tag of an artifact whose tree has this t1 hash.
func ContentTag(t1 hashing.Hash) string { return store.FileName(t1) }

const (
	annotationSource  = "io.github.cotterpin.source"
	annotationPackage = "io.github.cotterpin.package"
)

func (Statement) artifactType() string { return oci.ModuleArtifact }

func (s Statement) annotations() map[string]string {
	annotations := map[string]string{
		annotationSource:  s.Source,
		annotationPackage: s.Package,
		annotationHashes:  joinHashes(s.Hashes),
	}
	if s.Version != "" {
		annotations[annotationVersion] = s.Version
	}
	return annotations
}

func parseStatement(annotations map[string]string) (Statement, error) {
	s := Statement{
		Source:  annotations[annotationSource],
		Version: annotations[annotationVersion],
		Package: annotations[annotationPackage],
	}
	if s.Source == "" {
		return Statement{}, bad("its annotations are not those of a lock's entry")
	}
	var err error
	if s.Hashes, err = parseHashes(annotations[annotationHashes]); err != nil {
		return Statement{}, err
	}
	if s.Hash("t1") == "" && s.Hash("h1") == "" {
		return Statement{}, bad("it has no hash of the tree")
	}
	return s, nil
}

// maxHashes limits the hashes of a statement. There are three known schemes.
const maxHashes = 16

func joinHashes(hashes []hashing.Hash) string {
	texts := make([]string, len(hashes))
	for i, h := range hashes {
		texts[i] = string(h)
	}
	return strings.Join(texts, " ")
}

// parseHashes accepts only known, sorted hashes.
func parseHashes(text string) (hashes []hashing.Hash, err error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > maxHashes {
		return nil, bad("its annotations are not those of a lock's entry")
	}
	for _, field := range fields {
		h, err := hashing.ParseHash(field)
		if err != nil || !h.Known() {
			return nil, bad("%q is not a known hash", field)
		}
		hashes = append(hashes, h)
	}
	if !slices.IsSorted(hashes) {
		return nil, bad("its hashes are not sorted")
	}
	return hashes, nil
}
