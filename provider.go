package cotter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
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

// UnknownProviderError says that no source has a provider, and what is known of others
// that may be meant.
type UnknownProviderError struct {
	// SameType are the other required providers with its type, of which one may be meant.
	SameType []addrs.Provider
	// Renamed is the address that has taken its place, as its registry says; the zero
	// value if it does not say so.
	Renamed addrs.Provider
	// ImpliedBy is the first place that implies the provider by a name alone; nil if all
	// modules declare its source.
	ImpliedBy *ProviderUse
	// Err is the error of the source.
	Err error
}

func (e *UnknownProviderError) Error() string {
	text := e.Err.Error()
	if len(e.SameType) > 0 {
		text += fmt.Sprintf("; the configuration also requires %s, of the same type", displayed(e.SameType, addrs.Provider.ForDisplay))
	}
	if use := e.ImpliedBy; use != nil {
		text += fmt.Sprintf("; %s has no source for it, and %s implies this one", moduleName(use.Path), use.By)
	}
	return text
}

// Unwrap returns the error of the source.
func (e *UnknownProviderError) Unwrap() error { return e.Err }

// UnusableVersionError says that a version of a provider has no package that can be used
// here, and which version has.
type UnusableVersionError struct {
	Platform addrs.Platform
	// Platforms are those that the version has packages for, sorted; nil if its source
	// does not say.
	Platforms []addrs.Platform
	// Unlisted says that the source does not list the version, or not any more.
	Unlisted bool
	// Other is the newest version with a package for the platform that stock tools can
	// run, of those that all modules allow if Allowed is set; zero if there is none.
	Other   versions.Version
	Allowed bool
	// Err is the error of the source.
	Err error
}

func (e *UnusableVersionError) Error() string {
	var b strings.Builder
	b.WriteString(e.Err.Error())
	switch {
	case e.Unlisted:
		b.WriteString("; the version is not listed")
	case len(e.Platforms) > 0 && !slices.Contains(e.Platforms, e.Platform):
		fmt.Fprintf(&b, "; it is there for %s", displayed(e.Platforms, addrs.Platform.String))
	}
	switch {
	case e.Other.IsZero():
		fmt.Fprintf(&b, "; no other version can be used on %s", e.Platform)
	case e.Allowed:
		fmt.Fprintf(&b, "; the newest version that can be used on %s is %s", e.Platform, e.Other)
	default:
		fmt.Fprintf(&b, "; the newest version that can be used on %s is %s, which the constraints exclude", e.Platform, e.Other)
	}
	return b.String()
}

// Unwrap returns the error of the source.
func (e *UnusableVersionError) Unwrap() error { return e.Err }

// repositoryHost is the host that is most often taken for a registry.
const repositoryHost = "github.com"

// explainListing adds to an error about the versions of a provider which other provider
// may be meant.
func (s *providerSelector) explainListing(p requiredProvider, err error) error {
	switch {
	case p.address.Hostname == repositoryHost && !errors.Is(err, ErrOffline):
		return fmt.Errorf("%w; %s has no registry of providers: a source address is that of a registry, and not of the provider's repository", err, repositoryHost)
	case !errors.Is(err, getproviders.ErrNotFound):
		return err
	}
	unknown := &UnknownProviderError{Err: err}
	for _, other := range s.required {
		if other.address.Type == p.address.Type && other.address != p.address {
			unknown.SameType = append(unknown.SameType, other.address)
		}
	}
	if renamed, ok := errors.AsType[*getproviders.RenamedError](err); ok {
		unknown.Renamed = renamed.Now
	}
	if i := slices.IndexFunc(p.uses, func(use ProviderUse) bool { return use.Implied && use.Range.Filename != "" }); i >= 0 {
		unknown.ImpliedBy = &p.uses[i]
	}
	return unknown
}

// explainPackage adds to an error about the package of a selected version which version
// can be used instead, if the source says so.
func (s *providerSelector) explainPackage(ctx context.Context, p selectedProvider, platform addrs.Platform, err error) error {
	_, protocol := errors.AsType[*registryclient.ProtocolError](err)
	if !protocol && !errors.Is(err, getproviders.ErrNotFound) && !errors.Is(err, getproviders.ErrUnsupportedPlatform) {
		return err
	}
	listing, listingErr := s.listing(ctx, p.address)
	if listingErr != nil {
		return err
	}
	unusable := &UnusableVersionError{Platform: platform, Unlisted: true, Err: err}
	var usable []versions.Version
	for _, listed := range listing.Versions {
		if listed.Version == p.version {
			unusable.Unlisted = false
			unusable.Platforms = slices.SortedFunc(slices.Values(listed.Platforms), func(a, b addrs.Platform) int { return strings.Compare(a.String(), b.String()) })
		} else if listed.UsableOn(platform) {
			usable = append(usable, listed.Version)
		}
	}
	if unusable.Other, err = versions.SelectProvider(usable, p.want); err == nil {
		unusable.Allowed = true
	} else if newest, err := versions.SelectProvider(usable, versions.ProviderConstraints{}); err == nil {
		unusable.Other = newest
	}
	return unusable
}

// withAllowed is p with the newest version that each place allows, for an error that
// none of the versions meets all constraints.
func (p requiredProvider) withAllowed(listing getproviders.Listing) requiredProvider {
	p.uses = slices.Clone(p.uses)
	for i, use := range p.uses {
		want, err := use.constraints()
		if err == nil && !want.IsZero() {
			p.uses[i].Allowed = newestProvider(listing, want)
		}
	}
	return p
}

// displayed lists what a message names.
func displayed[T any](all []T, name func(T) string) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = name(one)
	}
	return strings.Join(names, ", ")
}
