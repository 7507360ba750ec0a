package cotter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

// Providers says what Install does with the providers that the modules require.
type Providers struct {
	// Only leaves the modules as they are. They must be installed.
	Only bool
	// Platforms are further platforms that the lock is to have the hashes of, beside
	// this machine's own. Their packages are not kept.
	Platforms []addrs.Platform
	// Prune drops the lock's entries of providers that no module requires. Without it
	// they stay, and are installed, unless the state of the project is a file in its
	// directory that does not need them: another state may.
	Prune bool
}

// others are the platforms beside this machine's own, each once.
func (p *Providers) others() []addrs.Platform {
	var others []addrs.Platform
	for _, platform := range p.Platforms {
		if platform != addrs.CurrentPlatform() && !slices.Contains(others, platform) {
			others = append(others, platform)
		}
	}
	return others
}

// Provider is one provider of a configuration.
type Provider struct {
	Address addrs.Provider
	// Version is the selected version.
	Version string
	// Constraints are those of all modules together, as in the lock; "" if there are
	// none.
	Constraints string
	// Hashes are those of the lock's entry, of all platforms that it covers.
	Hashes []hashing.Hash
	// Dir is the package's directory, relative to the root module's, with forward
	// slashes.
	Dir string
	// RequiredBy are the places that require it, in the order of the modules' paths.
	// It is empty for a provider that only the lock has.
	RequiredBy []ProviderUse
	// Location is where the package came from in this run, without credentials; "" if
	// it was there already, in the project or in the cache.
	Location string
	// KeyID is the id of the key that signed the package, in upper-case hexadecimal,
	// and Key its owner as the key has it; both are "" if no signature was checked.
	KeyID, Key string
}

// ProviderUse is a place in a module that requires a provider.
type ProviderUse struct {
	// Path is the module's path; empty for the root module.
	Path addrs.Module
	ProviderRequirement
	// Allowed is the newest version that Constraint allows by itself, in an error that
	// no version meets those of all places; "" otherwise, and if there is none.
	Allowed string
}

// String says in a few words who asks for what: "module app (main.tf:3): ~> 1.2".
func (u ProviderUse) String() string {
	text := moduleName(u.Path)
	switch {
	case u.Range.Filename != "":
		text += fmt.Sprintf(" (%s:%d)", u.Range.Filename, u.Range.Start.Line)
	case u.By != "":
		text = "the " + u.By // the state, which is part of no module
	}
	if u.Constraint != "" {
		text += ": " + u.Constraint
	}
	if u.Allowed != "" {
		text += fmt.Sprintf(" (alone: %s)", u.Allowed)
	}
	return text
}

func moduleName(path addrs.Module) string {
	if path.IsRoot() {
		return "the root module"
	}
	return "module " + path.String()
}

// ProviderChange is a provider's entry of the lock that a run changed.
type ProviderChange struct {
	Provider addrs.Provider
	// Old and New are versions. Old is "" for an entry that was added, New for one
	// that was removed.
	Old, New string
	// Hashes is how many hashes were added to an entry whose version stays.
	Hashes int
}

// ProviderError is what went wrong with one provider. It wraps
// *getproviders.MismatchError, *registryclient.RequestError, the errors of package
// versions, *policy.Violation, *UnknownProviderError, *UnusableVersionError, or a
// sentinel of this package.
type ProviderError struct {
	Provider addrs.Provider
	// Version is the selected version; "" if none was selected.
	Version string
	// RequiredBy are the places that require the provider.
	RequiredBy []ProviderUse
	Err        error
}

func (e *ProviderError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "provider %s", e.Provider.ForDisplay())
	if e.Version != "" {
		fmt.Fprintf(&b, " %s", e.Version)
	}
	fmt.Fprintf(&b, ": %s", e.Err)
	for _, line := range e.Requirements() {
		b.WriteString("\n  " + line)
	}
	return b.String()
}

// maxUses is how many places that require a provider a message names one by one.
const maxUses = 20

// Requirements says who requires the provider, in one line for each place: "required by
// module app (main.tf:3): ~> 1.2". If there are more than 20, those with the same
// constraint share a line.
func (e *ProviderError) Requirements() []string {
	var lines []string
	if len(e.RequiredBy) <= maxUses {
		for _, use := range e.RequiredBy {
			lines = append(lines, "required by "+use.String())
		}
		return lines
	}
	var first []ProviderUse
	others := make(map[string]int)
	for _, use := range e.RequiredBy {
		if others[use.Constraint]++; others[use.Constraint] == 1 {
			first = append(first, use)
		}
	}
	for _, use := range first {
		line := "required by " + use.String()
		if n := others[use.Constraint] - 1; n > 0 {
			line += fmt.Sprintf(", and in %d more places", n)
		}
		lines = append(lines, line)
	}
	return lines
}

func (e *ProviderError) Unwrap() error { return e.Err }
