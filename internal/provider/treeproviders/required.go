package treeproviders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Requirements collects provider requirements while the tree is walked.
type Requirements struct {
	// Unmanaged is that of the [Lock]. They are not collected.
	Unmanaged []addrs.Provider

	// begin is called once for each provider, at its first requirement, and expect by
	// [Requirements.Expect]. Both may be nil.
	begin  func(config.ProviderRequirement, requirer)
	expect func(isRequired func(addrs.Provider) bool)

	mu   sync.Mutex
	uses map[addrs.Provider][]config.ProviderRequirement
	by   map[addrs.Provider]requirer
}

// requirer decides where requests for a provider may be sent. The zero requirer may point to no more than a
// package from elsewhere.
type requirer struct {
	// own is set for the project's own modules and its state.
	own bool
	// pkg is where a package that requires it came from; nil if that is not known.
	pkg *url.URL
}

// and returns the requirer of both that may point to more hosts. other is known.
func (r requirer) and(other requirer) requirer {
	if r.own || other.own || r.pkg == nil {
		return requirer{r.own || other.own, other.pkg}
	}
	more := cmp.Compare(hostname.ScopeOf(other.pkg.Hostname()), hostname.ScopeOf(r.pkg.Hostname()))
	if cmp.Or(more, strings.Compare(r.pkg.String(), other.pkg.String())) > 0 {
		return other
	}
	return r
}

// Add adds the requirements of one module, except for built-in and unmanaged providers. from is where the module's
// package came from; nil for the project's own modules.
func (r *Requirements) Add(path addrs.Module, from *url.URL, requirements []config.ProviderRequirement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, required := range requirements {
		if required.Provider.IsBuiltIn() || slices.Contains(r.Unmanaged, required.Provider) {
			continue
		}
		if r.uses == nil {
			r.uses, r.by = make(map[addrs.Provider][]config.ProviderRequirement), make(map[addrs.Provider]requirer)
		}
		uses, known := r.uses[required.Provider]
		required.Path = path
		r.uses[required.Provider] = append(uses, required)
		r.by[required.Provider] = r.by[required.Provider].and(requirer{from == nil, from})
		if !known && r.begin != nil {
			r.begin(required, r.by[required.Provider])
		}
	}
}

// Expect says that all requirements of the root module were added, and that it calls modules with their
// own.
func (r *Requirements) Expect() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.expect != nil {
		r.expect(func(p addrs.Provider) bool { return r.uses[p] != nil })
	}
}

// Pool returns the providers in the order of the lock, and the errors in their constraints.
func (r *Requirements) Pool() (all []Required, errs []error) {
	for _, address := range slices.SortedFunc(maps.Keys(r.uses), addrs.Provider.Compare) {
		p := Required{Address: address, Uses: distinctUses(slices.Clone(r.uses[address])), by: r.by[address]}
		for _, use := range p.Uses {
			want, err := use.Constraints()
			if err != nil {
				errs = append(errs, &config.ProviderError{Provider: address, RequiredBy: []config.ProviderRequirement{use}, Err: err})
				continue
			}
			p.Want = p.Want.And(want)
		}
		all = append(all, p)
	}
	return all, errs
}

// distinctUses sorts uses by module, file and line. A module may imply a provider hundreds of times, so
// only the first such use is kept, and none if the module declares the provider.
func distinctUses(uses []config.ProviderRequirement) []config.ProviderRequirement {
	slices.SortStableFunc(uses, func(a, b config.ProviderRequirement) int {
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
	return slices.DeleteFunc(uses, func(use config.ProviderRequirement) bool {
		if !use.Implied || use.Constraint != "" {
			return false
		}
		shown := declared[use.Path.String()]
		declared[use.Path.String()] = true
		return shown
	})
}

type Required struct {
	Address addrs.Provider
	// Uses are the places that require the provider; none if only the lock has it.
	Uses []config.ProviderRequirement
	Want versions.ProviderConstraints
	by   requirer
}

// ruled returns the context for requests: by the rules of a run and, unless the project itself requires the
// provider, no further than a server at the place of the package may point.
func (p Required) ruled(ctx context.Context, all rules.Rules) context.Context {
	ctx = all.ForProviders(ctx)
	if p.by.own {
		return ctx
	}
	return httpx.PointedTo(ctx, cmp.Or(p.by.pkg, new(url.URL)))
}

// mayReach judges the registry by the text of its host. Callers for which it differs share no answers.
func (p Required) mayReach(ctx context.Context) bool {
	return httpx.CheckReach(ctx, &url.URL{Scheme: "https", Host: string(p.Address.Hostname)}) == nil
}

func (p Required) isLockedOnly() bool { return len(p.Uses) == 0 }

func (p Required) Fits(locked versions.Version) bool {
	return p.isLockedOnly() || p.Want.Allows(locked)
}

// Fail returns an error about the provider. version is "" if none was selected.
func (p Required) Fail(version versions.Version, err error) error {
	return &config.ProviderError{Provider: p.Address, Version: version, RequiredBy: p.Uses, Err: p.withoutSubject(err)}
}

type detailError struct {
	text string
	err  error
}

func (e *detailError) Error() string { return e.text }
func (e *detailError) Unwrap() error { return e.err }

// withoutSubject removes the provider from the text, because a *[config.ProviderError] names it.
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

// Refusal is why a lock entry does not decide a provider in a run that must not change the lock.
// [Stage].Refuse turns all refusals into one error.
type Refusal struct {
	Provider addrs.Provider
	// Range is a place that requires the provider, if there is one.
	Range  hcl.Range
	Reason string
}

func (r Refusal) Error() string { return r.Reason }

func (p Required) refusal(reason string) Refusal {
	r := Refusal{Provider: p.Address, Reason: reason}
	if len(p.Uses) > 0 {
		r.Range = p.Uses[0].Range
	}
	return r
}

// IsDecided reports whether an entry, if there is one, decides the provider without a change of the lock.
func (p Required) IsDecided(entry Entry, has bool) bool {
	return has && p.Fits(entry.Version) && !entry.IsTakenOver()
}

// Undecided returns why IsDecided is false.
func (p Required) Undecided(entry Entry, has bool) Refusal {
	if !has {
		return p.refusal("the lock has no entry for it")
	}
	if p.Fits(entry.Version) && entry.IsTakenOver() {
		return p.refusal(fmt.Sprintf("the lock has version %s from %s, and tofu takes it from %s; the lock would get an entry for that",
			entry.Version, entry.From.Hostname.ForDisplay(), entry.Address.Hostname.ForDisplay()))
	}
	refusing := p
	refusing.Uses = p.excluding(entry.Version)
	return refusing.refusal(fmt.Sprintf("the lock has version %s, and the configuration asks for %q", entry.Version, p.Want))
}

func (p Required) excluding(version versions.Version) []config.ProviderRequirement {
	return slices.DeleteFunc(slices.Clone(p.Uses), func(use config.ProviderRequirement) bool { return use.Allows(version) })
}

// Unrequired are the providers in the lock that no module requires. Kept ones stay, because the state may
// need them; the entries of Gone are dropped.
type Unrequired struct {
	Kept []Required
	Gone []addrs.Provider
}

// FindUnrequired finds providers besides the required ones. With prune, none is kept.
func FindUnrequired(lock Lock, required []Required, prune bool) Unrequired {
	var found Unrequired
	needed := make(map[addrs.Provider]bool)
	for _, r := range required {
		needed[r.Address] = true
	}
	for _, entry := range lock.Managed() {
		if needed[entry.Address] {
			continue
		}
		address := lock.inState(entry.Address)
		if prune || address != entry.Address {
			found.Gone = append(found.Gone, entry.Address)
		}
		if _, has := lock.Provider(address); has && !needed[address] && !prune {
			needed[address] = true
			found.Kept = append(found.Kept, Required{Address: address, by: requirer{own: true}})
		}
	}
	return found
}

// Sorted merges the lists in the order of the lock.
func Sorted(lists ...[]Required) []Required {
	return slices.SortedFunc(slices.Values(slices.Concat(lists...)), func(a, b Required) int { return a.Address.Compare(b.Address) })
}
