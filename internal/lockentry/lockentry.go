package lockentry

import (
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/artifact"
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
	add("source", a.Source.String(), b.Source.String())
	add("package", a.Package.String(), b.Package.String())
	for _, scheme := range []string{"h1", "t1", "zh"} {
		add(scheme+" hash", string(a.Hash(scheme)), string(b.Hash(scheme)))
	}
	return list
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

// Statements are what must be confirmed about an entry of a lock, as texts for
// [evidencerules.Memos].
//
// A call in a package from elsewhere may use fewer locations than one in the user's own modules, so
// each statement holds only for one of the two.
type Statements struct {
	// Package states that the source, at the version, is that directory of that package with
	// those hashes, and that a commit belongs to its repository.
	Package string
	// Ref states that the tag of the source points to the locked revision, or need not.
	Ref string
	// History states that a branch or a tag of the repository contains the commit that the source
	// names. Only origins confirm it: mirrors and bundles do not know the history.
	History string
}

func StatementsOf(entry lockfile.Module, fromPackage bool) Statements {
	return statementsOf(artifact.StatementOf(entry), fromPackage)
}

func statementsOf(statement artifact.Statement, fromPackage bool) Statements {
	text := statement.String()
	if fromPackage {
		text = "in a package: " + text
	}
	return Statements{Package: "package " + text, Ref: "ref " + text, History: "history " + text}
}

// AllStatements returns the statements that a store confirms about a package, for every call.
func AllStatements(statement artifact.Statement) []string {
	own := statementsOf(statement, false)
	all := []string{own.Package, own.Ref}
	if addrs.ParseModulePackage(statement.Package).Getter() != "file" {
		inPackage := statementsOf(statement, true)
		all = append(all, inPackage.Package, inPackage.Ref)
	}
	return all
}
