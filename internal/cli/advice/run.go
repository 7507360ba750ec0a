// Package advice says of an error what went wrong and what its user can do about it. Errors of the library state facts;
// causes.go and remedies.go have a row for each that needs other words or advice, and the first row that fits counts. An
// unknown error keeps its text. A [Message] is the same for the terminal and for JSON; printing is not done here.
package advice

import "sync/atomic"

// Run is what advice depends on, besides the error.
type Run struct {
	Dir     string // the value of --chdir
	Project string // the directory that the run, or a part of it, is about, if there are several
	Bundle  bool   // packages come from a bundle and not from servers
	// PlainNames leaves the names of files as errors have them, relative to the project.
	PlainNames bool
	Env        func(string) string
	// Reached is set when a server was reached by its name. nil means not known.
	Reached *atomic.Bool
	// Again returns the flags of this run that an advised command needs too. nil means none.
	Again func(command, rest, project string) string
}
