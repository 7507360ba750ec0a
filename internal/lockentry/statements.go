package lockentry

import (
	"github.com/cotterpin/cotter/internal/artifact"
	"github.com/cotterpin/cotter/lockfile"
)

// Statements are what must be confirmed about an entry of a lock, as texts for
// [evidence.Memos].
//
// A call in a package from elsewhere may use fewer locations than a call in one of the user's own
// modules. So each statement holds only for one of the two.
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

// StatementsOf returns the statements of an entry for a call.
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

// AllStatements returns the statements that a store confirms about a package, for every call. A
// store does not know the history of the repository.
func AllStatements(statement artifact.Statement) []string {
	own := statementsOf(statement, false)
	all := []string{own.Package, own.Ref}
	if pkg, _ := (lockfile.Module{Package: statement.Package}).SplitPackage(); pkg.Getter() != "file" {
		inPackage := statementsOf(statement, true)
		all = append(all, inPackage.Package, inPackage.Ref)
	}
	return all
}
