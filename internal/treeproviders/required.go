package treeproviders

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/localstate"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Requirements collects what the modules of a tree require of providers, while the
// tree is walked.
type Requirements struct {
	// ask is called once for each provider, as soon as the first module requires it.
	ask func(getproviders.ProviderUse)

	mu   sync.Mutex
	uses map[addrs.Provider][]getproviders.ProviderUse
}

// Add adds what one module requires. Built-in providers are part of the stock tool:
// there is nothing to install.
func (r *Requirements) Add(path addrs.Module, requirements []getproviders.ProviderRequirement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, required := range requirements {
		if required.Provider.IsBuiltIn() {
			continue
		}
		if r.uses == nil {
			r.uses = make(map[addrs.Provider][]getproviders.ProviderUse)
		}
		uses, known := r.uses[required.Provider]
		use := getproviders.ProviderUse{Path: path, ProviderRequirement: required}
		r.uses[required.Provider] = append(uses, use)
		if !known && r.ask != nil {
			r.ask(use)
		}
	}
}

// Pool returns the required providers in the order of the lock, and what is wrong with
// their constraints.
func (r *Requirements) Pool() (all []Required, errs []error) {
	for _, address := range slices.SortedFunc(maps.Keys(r.uses), addrs.Provider.Compare) {
		p := Required{Address: address, Uses: distinctUses(slices.Clone(r.uses[address]))}
		for _, use := range p.Uses {
			want, err := use.Constraints()
			if err != nil {
				errs = append(errs, &getproviders.ProviderError{Provider: address, RequiredBy: []getproviders.ProviderUse{use}, Err: err})
				continue
			}
			p.Want = p.Want.And(want)
		}
		all = append(all, p)
	}
	return all, errs
}

// distinctUses sorts uses by module, file and line, and keeps of those that only imply
// a provider the first one of each module: a module may have hundreds.
func distinctUses(uses []getproviders.ProviderUse) []getproviders.ProviderUse {
	slices.SortStableFunc(uses, func(a, b getproviders.ProviderUse) int {
		return cmp.Or(
			cmp.Compare(a.Path.String(), b.Path.String()),
			cmp.Compare(a.Range.Filename, b.Range.Filename),
			cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte),
		)
	})
	declared := make(map[string]bool)
	for _, use := range uses {
		if !use.Implied {
			declared[use.Path.String()] = true
		}
	}
	return slices.DeleteFunc(uses, func(use getproviders.ProviderUse) bool {
		if !use.Implied || use.Constraint != "" {
			return false
		}
		shown := declared[use.Path.String()]
		declared[use.Path.String()] = true
		return shown
	})
}

// Required is a provider with the constraints of all modules.
type Required struct {
	Address addrs.Provider
	// Uses are the places that require it; none for a provider that only the lock has.
	Uses []getproviders.ProviderUse
	Want versions.ProviderConstraints
}

// isLockedOnly reports whether only the lock has the provider: no module and no
// state that is known.
func (p Required) isLockedOnly() bool { return len(p.Uses) == 0 }

// Fits reports whether a locked version is one that all modules allow.
func (p Required) Fits(locked versions.Version) bool {
	return p.isLockedOnly() || p.Want.Allows(locked)
}

// Fail is what went wrong with the provider; version is "" if none was selected.
func (p Required) Fail(version string, err error) error {
	return &getproviders.ProviderError{Provider: p.Address, Version: version, RequiredBy: p.Uses, Err: p.withoutSubject(err)}
}

// detailError is an error with another text.
type detailError struct {
	text string
	err  error
}

func (e *detailError) Error() string { return e.text }
func (e *detailError) Unwrap() error { return e.err }

// withoutSubject is the error of a source with a text that does not name the provider,
// which a *[getproviders.ProviderError] names.
func (p Required) withoutSubject(err error) error {
	var subject string
	if e, ok := errors.AsType[*registryclient.RequestError](err); ok && e.Provider == p.Address {
		subject = e.Subject()
	} else if e, ok := errors.AsType[*getproviders.MirrorError](err); ok && e.Provider == p.Address {
		subject = e.Subject()
	}
	if text := strings.Replace(err.Error(), subject+": ", "", 1); subject != "" {
		return &detailError{text, err}
	}
	return err
}

// Refusal is why an entry of the lock does not decide, in a run that may not change it.
type Refusal struct {
	Provider addrs.Provider
	// Range is a place that requires the provider, if there is one.
	Range  hcl.Range
	Reason string
	// Missing says that the lock has no entry.
	Missing bool
}

func (p Required) refusal(reason string) Refusal {
	r := Refusal{Provider: p.Address, Reason: reason}
	if len(p.Uses) > 0 {
		r.Range = p.Uses[0].Range
	}
	return r
}

// Unfit is why the lock does not decide on the provider: it has no entry, or one that does
// not fit.
func (p Required) Unfit(entry lockfile.Provider, has bool) Refusal {
	if !has {
		r := p.refusal("the lock has no entry for it")
		r.Missing = true
		return r
	}
	refusing := p
	refusing.Uses = slices.DeleteFunc(slices.Clone(p.Uses), func(use getproviders.ProviderUse) bool { return use.Allows(entry.Version) })
	return refusing.refusal(fmt.Sprintf("the lock has version %s, and the configuration asks for %q", entry.Version, p.Want))
}

// Unrequired are providers that no module requires and that may be needed all the same.
type Unrequired struct {
	// InState are those that the state needs, as stock tools install them too.
	InState []Required
	// Kept are those of the lock that stay, because another state may need them: Why
	// says what is known of it. Gone are those to be dropped from the lock.
	Kept []Required
	Gone []addrs.Provider
	Why  string
}

// FindUnrequired finds the providers of a project beside those that its modules require.
// With prune nothing stays for another state.
func FindUnrequired(state localstate.Needs, lock *lockfile.File, required []Required, prune bool) Unrequired {
	found := Unrequired{Why: state.Unknown}
	needed := make(map[addrs.Provider]bool)
	for _, r := range required {
		needed[r.Address] = true
	}
	for _, address := range state.Providers {
		if !needed[address] {
			needed[address] = true
			use := getproviders.ProviderUse{ProviderRequirement: getproviders.ProviderRequirement{Provider: address, Implied: true, By: "state " + state.File}}
			found.InState = append(found.InState, Required{Address: address, Uses: []getproviders.ProviderUse{use}})
		}
	}
	for _, entry := range lock.Providers() {
		switch {
		case needed[entry.Address]:
		case prune || state.Unknown == "":
			found.Gone = append(found.Gone, entry.Address)
		default:
			found.Kept = append(found.Kept, Required{Address: entry.Address})
		}
	}
	return found
}

// Sorted returns the providers of all lists in the order of the lock.
func Sorted(lists ...[]Required) []Required {
	return slices.SortedFunc(slices.Values(slices.Concat(lists...)), func(a, b Required) int { return a.Address.Compare(b.Address) })
}
