package lockentry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/lockfile"
)

// PackageAddress returns the address of a package as a lock has it, with the directory that the
// origin pointed to.
func PackageAddress(pkg addrs.ModulePackage, subdir string) addrs.ModuleSourceRemote {
	return addrs.ModuleSourceRemote{Package: pkg.WithoutCredentials(), Subdir: subdir}
}

func VersionOrPackage(entry lockfile.Module) string {
	if !entry.Version.IsZero() {
		return entry.Version.String()
	}
	return entry.Package.String()
}

// Differences describes the differences between the packages of two entries for the same call.
func Differences(a, b lockfile.Module) []string {
	var list []string
	add := func(what, a, b string) {
		if a != b {
			list = append(list, fmt.Sprintf("its %s is %q and not %q", what, a, b))
		}
	}
	add("version", a.Version.String(), b.Version.String())
	if !addrs.SameRecord(a.Source, b.Source) {
		list = append(list, OtherSource(a.Source, b.Source))
	}
	add("package", a.Package.String(), b.Package.String())
	for _, scheme := range []string{"h1", "t1", "zh"} {
		add(scheme+" hash", string(a.Hash(scheme)), string(b.Hash(scheme)))
	}
	return list
}

// OtherSource describes the difference between the source addresses of a lock and of a call, or of two locks.
func OtherSource(a, b addrs.ModuleSource) string {
	text := fmt.Sprintf("its source is %q and not %q", a, b)
	if addrs.Redact(a.String()) == addrs.Redact(b.String()) {
		text += ", which differ in " + strings.Join(addrs.Differing(a, b), " and ")
	}
	return text
}

// SameContent reports whether two entries have the same content. It compares the strongest hash
// that both have, and returns false if they have no hash of one scheme.
func SameContent(a, b lockfile.Module) bool {
	for _, scheme := range []string{"t1", "h1"} {
		x, y := a.Hash(scheme), b.Hash(scheme)
		if x != "" && y != "" {
			return x == y
		}
	}
	return false
}

// Statements are what must be confirmed about an entry of a lock.
type Statements struct {
	// Package states that the source, at the version, is that directory of that package with
	// those hashes, and that a commit belongs to its repository.
	Package Statement
	// Ref states that the tag of the source points to the locked revision, or need not.
	Ref Statement
	// History states that a branch or a tag of the repository contains the commit that the source
	// names. Only origins confirm it: mirrors and bundles do not know the history.
	History Statement
}

// Statement has the texts for [evidencerules.Memos].
type Statement struct {
	// address is about the source address of the call, with what a lock does not show of it.
	address string
	// written is about what a lock has: what the current one would have after an installation, what it has, and
	// what it has in the form for addresses that are not literal.
	written [3]string
}

// For returns the text that some evidence is about. An origin, or the user, confirms an address. Mirrors and
// bundles know only the entries of locks.
func (s Statement) For(e evidence.Evidence) string {
	if IsOfAddress(e) {
		return s.address
	}
	return s.written[0]
}

// IsOfAddress reports whether evidence is about a source address, and not about what a lock shows of it.
func IsOfAddress(e evidence.Evidence) bool {
	return e.Kind == evidence.Origin || e.Kind == evidence.User
}

// Find returns the evidence for a statement among memos, or the zero Evidence.
func (s Statement) Find(memos *evidencerules.Memos) evidence.Evidence {
	if e := memos.Find(s.address); !e.IsZero() {
		return e
	}
	for i, text := range s.written {
		if slices.Contains(s.written[:i], text) {
			continue
		}
		if e := memos.Find(text); !e.IsZero() {
			return e
		}
	}
	return evidence.Evidence{}
}

// Call is what the statements about an entry depend on in the call that uses it.
type Call struct {
	// FromPackage says that the call is in a package from elsewhere. It may use fewer locations than one in the
	// user's own modules, so statements hold only for one of the two.
	FromPackage bool
	// Source is the address as the lock has it after an installation. The entry may lack arguments.
	Source addrs.ModuleSource
	// Mark stands for the identity of the source address; "" if every lock shows all of it. It is keyed, because
	// the address can contain credentials.
	Mark string
}

func StatementsOf(entry lockfile.Module, of Call) Statements {
	completed, other := entry, entry
	completed.Source, other.Source = cmp.Or(of.Source, entry.Source), addrs.LockForm(entry.Source, false)
	statement := func(what string) Statement {
		return Statement{
			address: what + " at the address " + of.Mark + ": " + textOf(other, of.FromPackage),
			written: [3]string{
				what + " " + textOf(completed, of.FromPackage), what + " " + textOf(entry, of.FromPackage), what + " " + textOf(other, of.FromPackage),
			},
		}
	}
	return Statements{Package: statement("package"), Ref: statement("ref"), History: statement("history")}
}

func textOf(entry lockfile.Module, fromPackage bool) string {
	return textFor(artifact.StatementOf(entry), fromPackage)
}

func textFor(statement artifact.Statement, fromPackage bool) string {
	if fromPackage {
		return "in a package: " + statement.String()
	}
	return statement.String()
}

// AllStatements returns the texts of the statements that a store confirms about a package, for every call.
func AllStatements(statement artifact.Statement) []string {
	all := []string{"package " + textFor(statement, false), "ref " + textFor(statement, false)}
	if addrs.ParseModulePackage(statement.Package).Getter() != "file" {
		all = append(all, "package "+textFor(statement, true), "ref "+textFor(statement, true))
	}
	return all
}
