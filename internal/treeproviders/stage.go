package treeproviders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/localstate"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// Stage finds, gets and checks the providers of one project, while its modules are walked
// and after that. The exported fields must be set before [Stage.Open].
type Stage struct {
	Session *Session
	Lock    *lockfile.File
	Rules   rules.Rules
	Update  Update
	// Locked says that the lock may not change, and Offline that no source may be asked.
	Locked, Offline bool
	// Prune drops entries of the lock that no module requires, whatever the state may need.
	Prune bool
	// Others are the platforms, beside this machine's own, of whose packages the lock is to
	// have the hashes.
	Others []addrs.Platform
	// Offers are what bundles and mirrors have, and OffersKey is the same text for the same
	// ones.
	Offers    providers.Offers
	OffersKey string
	// State reads which providers the state in the project needs.
	State func(context.Context) (localstate.Needs, error)
	// Refuse returns the error of entries of the lock that do not decide and may not
	// change; nil for none.
	Refuse func([]Refusal) error
	// Warn tells the user something, and OnEvent what happens to packages. They are called
	// by several goroutines at once.
	Warn    func(text string)
	OnEvent func(providers.Event)

	// Requirements are what the modules require.
	Requirements Requirements

	getter     *providers.Getter
	prefetches sync.WaitGroup
}

// Open makes the stage ready. The exported fields must not change after it.
func (s *Stage) Open() {
	s.getter = s.Session.Getter(s.Session.Source)
	s.getter.Offers, s.getter.PluginCache, s.getter.Offline = s.Offers, s.Session.PluginCache, s.Offline
	s.getter.Accept, s.getter.OnEvent = s.Rules.CheckAuthentication, s.OnEvent
}

// Begin has what the modules require asked for from now on, as soon as it is known, until
// ctx ends. [Stage.Open] must precede, and [Stage.Wait] must follow.
func (s *Stage) Begin(ctx context.Context) {
	s.Requirements.ask = func(use getproviders.ProviderUse) { s.prefetch(ctx, use) }
}

// Wait waits for the end of what was asked for.
func (s *Stage) Wait() { s.prefetches.Wait() }

// prefetch has a provider asked for that a module requires: for the package of the locked
// version if the lock decides, as far as this module tells, and for the versions that
// there are otherwise. Finish asks for the same, and gets the answer or its error.
func (s *Stage) prefetch(ctx context.Context, use getproviders.ProviderUse) {
	entry, has := s.Lock.Provider(use.Provider)
	keeps := has && !s.Update.updates(use.Provider)
	switch {
	case s.Offline || s.Rules.CheckProvider(use.Provider) != nil:
	case keeps && use.Allows(entry.Version) && proves(entry.Hashes):
		s.prefetches.Go(func() { s.prefetchPackage(ctx, entry) })
	case !keeps && !s.Locked:
		s.prefetches.Go(func() { _, _ = s.listing(ctx, use.Provider) })
	}
}

func (s *Stage) prefetchPackage(ctx context.Context, entry lockfile.Provider) {
	version, err := versions.Parse(entry.Version)
	if err != nil {
		return // Finish says so
	}
	want := providers.Want{Provider: entry.Address, Version: version, Platform: addrs.CurrentPlatform(), Locked: entry.Hashes}
	_, _ = s.packageOf(ctx, want)
}

// Finish selects, gets and checks all providers: those that the modules require, as they
// were pooled, and those that are needed besides. Nothing in the project is changed yet.
func (s *Stage) Finish(ctx context.Context, required []Required) (*Plan, error) {
	state, err := s.State(ctx)
	if err != nil {
		return nil, err
	}
	others := FindUnrequired(state, s.Lock, required, s.Prune)
	if len(others.Kept) > 0 {
		s.Warn(fmt.Sprintf("the lock has providers that no module requires; they stay, because the state may need them, and %s: %s", others.Why, namesOf(others.Kept)))
	}
	choice := &selection{Stage: s, required: Sorted(required, others.InState, others.Kept)}
	selected, err := choice.selectAll(ctx)
	if err != nil {
		return nil, err
	}
	plan := &Plan{stage: s, Gone: others.Gone, Providers: make([]Planned, len(selected))}
	err = sideBySide(selected, func(i int, p Selected) (err error) {
		plan.Providers[i], err = s.get(ctx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return plan, plan.planLock()
}

func namesOf(all []Required) string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Address.ForDisplay()
	}
	return strings.Join(names, ", ")
}

// get gets the package of a provider for this machine, and beside it the hashes of those
// for the other platforms that the request names.
func (s *Stage) get(ctx context.Context, p Selected) (Planned, error) {
	planned := Planned{Selected: p}
	others := make([]*providers.Proof, len(s.Others))
	err := sideBySide([]func() error{
		func() (err error) {
			planned.Got, err = s.getOwn(ctx, p)
			return err
		},
		func() error {
			return sideBySide(s.Others, func(i int, platform addrs.Platform) (err error) {
				others[i], err = s.getHashes(ctx, p, platform)
				return err
			})
		},
	}, func(_ int, work func() error) error { return work() })
	if err != nil {
		return Planned{}, err
	}
	for i, other := range others {
		planned.hashes = append(planned.hashes, other.Hashes...)
		if other.Matched == "" {
			planned.notLocked = append(planned.notLocked, s.Others[i])
		}
	}
	planned.hashes = append(planned.hashes, planned.Got.Hashes...)
	return planned, nil
}

// getOwn gets the package of a provider for this machine. It is asked for once, whichever
// projects need it, but the policies of each are applied.
func (s *Stage) getOwn(ctx context.Context, p Selected) (*providers.Got, error) {
	want := p.wanted(addrs.CurrentPlatform())
	got, err := s.packageOf(ctx, want)
	if err == nil {
		err = s.Rules.CheckAuthentication(got.Authentication)
	}
	if err != nil {
		return nil, s.fail(ctx, p, want.Platform, err)
	}
	warnings := got.Authentication.Warnings
	if weak := got.Authentication.Weak; weak != "" && got.Asked {
		warnings = append(slices.Clone(warnings), weak+"; the policy allows that")
	}
	for _, text := range warnings {
		s.Warn(fmt.Sprintf("provider %s %s: %s", p.Address.ForDisplay(), p.Version, text))
	}
	return got, nil
}

// packageOf gets a package once in a session.
func (s *Stage) packageOf(ctx context.Context, want providers.Want) (*providers.Got, error) {
	key := keyOf(want)
	key.offers = s.OffersKey
	return s.Session.packages.Do(ctx, key, func(ctx context.Context) (*providers.Got, error) {
		return s.getter.Get(ctx, want)
	})
}

// getHashes gets the hashes of a provider's package for another platform.
func (s *Stage) getHashes(ctx context.Context, p Selected, platform addrs.Platform) (*providers.Proof, error) {
	want := p.wanted(platform)
	proof, err := s.Session.hashes.Do(ctx, keyOf(want), func(ctx context.Context) (*providers.Proof, error) {
		return s.getter.Hashes(ctx, want)
	})
	if err == nil {
		err = s.Rules.CheckAuthentication(proof.Authentication)
	}
	if err != nil {
		return nil, s.fail(ctx, p, platform, fmt.Errorf("for %s: %w", platform, err))
	}
	return proof, nil
}

// wanted is the package of a provider for a platform, with what the lock has of it.
func (p Selected) wanted(platform addrs.Platform) providers.Want {
	return providers.Want{Provider: p.Address, Version: p.Version, Platform: platform, Locked: p.Entry.Hashes}
}

// fail is err as that of a provider's package for a platform.
func (s *Stage) fail(ctx context.Context, p Selected, platform addrs.Platform, err error) error {
	if errors.Is(err, providers.ErrNotAtHand) {
		err = fmt.Errorf("its package is not in the cache: %w", origins.ErrOffline)
	} else {
		err = s.explainPackage(ctx, p, platform, err)
	}
	return p.Fail(p.Version.String(), err)
}

// Planned is a provider whose package is at hand and checked.
type Planned struct {
	Selected
	Got *providers.Got
	// LockEntry is what the lock is to have of it.
	LockEntry lockfile.Provider
	// hashes are those of the package and of those for the other platforms.
	hashes []hashing.Hash
	// notLocked are the other platforms of whose packages the lock has no hash.
	notLocked []addrs.Platform
}
