package evidencerules

import (
	"slices"

	"github.com/cotterpin/cotter/installer/evidence"
)

// Run is a kind of run, named after a command. The zero value accepts no evidence.
type Run int

const (
	_ Run = iota
	// Install is a run that may change the lock, or reports whether it would change: install, update,
	// lock, and init without -lockfile=readonly.
	Install
	// Locked is a run that must not change the lock: install --locked, and init
	// -lockfile=readonly.
	Locked
	// Verify compares what is installed with the lock, and sends no requests.
	Verify
	// VerifyRemote asks every registry and ref again. Earlier evidence counts only for content.
	VerifyRemote
	// Publish copies locked packages to a mirror or a bundle: mirror push, bundle create.
	Publish
	// Restore puts lost entries back into the lock. It uses no packages.
	Restore
	// Diff reads packages only to compare them with each other.
	Diff
	// TrustInstalled is an Install, Locked or Verify of a program that believes what is installed, for
	// the packages that are installed. It is no run of its own: see [Rule.Trusting].
	TrustInstalled
)

// Response is what a run does about something that is not proven. The zero value refuses.
type Response int

const (
	// Refuse fails the run.
	Refuse Response = iota
	// Warn goes on with a warning.
	Warn
	// Report lists it in the result. The run fails for it only if the table says so.
	Report
	// Ignore says nothing.
	Ignore
)

// Rule is a row of the table: what evidence is enough for a kind of run, and what happens if
// something else is not proven. The zero value accepts nothing and refuses everything.
type Rule struct {
	Module, Provider []evidence.Kind
	// Memos reports whether evidence of an earlier run counts. It counts only if its
	// source would be asked, and would be enough, in this run.
	Memos bool
	// MovedTag is the response to a full version tag, or an OCI tag, that points to something
	// other than the locked commit or digest.
	MovedTag Response
	// Unreachable is the response to a locked commit that its ref has left and that no branch or
	// tag of the repository contains. Unknown is the response if that cannot be found out.
	Unreachable, Unknown Response
}

var (
	confirmed = []evidence.Kind{evidence.User, evidence.Mirror, evidence.Imported, evidence.Origin, evidence.Signature}
	brought   = append([]evidence.Kind{evidence.Project}, confirmed...)
)

func installed(kinds []evidence.Kind) []evidence.Kind {
	return append([]evidence.Kind{evidence.Installed}, kinds...)
}

var rules = map[Run]Rule{
	Install:        {Module: confirmed, Provider: brought, Memos: true, MovedTag: Warn, Unknown: Warn},
	Locked:         {Module: confirmed, Provider: brought, Memos: true},
	Verify:         {Module: confirmed, Provider: brought, Memos: true, MovedTag: Ignore, Unreachable: Ignore, Unknown: Ignore},
	VerifyRemote:   {Module: []evidence.Kind{evidence.Origin}, Provider: []evidence.Kind{evidence.Mirror, evidence.Origin, evidence.Signature}, Memos: true, MovedTag: Report, Unreachable: Report, Unknown: Report},
	Publish:        {Module: confirmed, Provider: confirmed, Memos: true},
	TrustInstalled: {Module: installed(confirmed), Provider: installed(brought), Memos: true, MovedTag: Ignore, Unreachable: Ignore, Unknown: Ignore},
	Restore:        {MovedTag: Ignore, Unreachable: Ignore, Unknown: Ignore},
	Diff:           {Module: append([]evidence.Kind{evidence.None}, confirmed...), Memos: true, MovedTag: Ignore, Unreachable: Ignore, Unknown: Ignore},
}

// Trusting returns the rule for a run that also believes what is installed. For a package that is
// installed, nothing else is asked. It is the same rule for runs that confirm packages for others,
// such as Publish.
func (r Rule) Trusting() Rule {
	if slices.Contains(r.Provider, evidence.Project) {
		r.Module, r.Provider = rules[TrustInstalled].Module, rules[TrustInstalled].Provider
	}
	return r
}

// For returns the rule for a kind of run. For an unknown kind it is the zero Rule.
func For(run Run) Rule { return rules[run] }

func (r Rule) Accepts(e evidence.Evidence) bool { return slices.Contains(r.Module, e.Kind) }

func (r Rule) AcceptsProvider(e evidence.Evidence) bool { return slices.Contains(r.Provider, e.Kind) }
