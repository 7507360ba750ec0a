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
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
	"github.com/cotterpin/cotter/lockfile"
)

// Stage finds, gets and checks the providers of one project, while its modules are walked and afterwards.
// The exported fields must be set before [Stage.Open].
type Stage struct {
	Client *Client
	// Source, if not nil, replaces the client's, and SourceKey is equal for stages with the same source.
	Source    getproviders.Source
	SourceKey string
	Lock      Lock
	Rules     rules.Rules
	Update    Update
	// Locked says that the lock must not change, Offline that no source may be asked.
	Locked, Offline bool
	// Prune drops lock entries that no module requires, although the state may need them.
	Prune bool
	// Others are platforms other than this machine's, for whose packages the lock gets hashes. Own says that the
	// user names this machine's with them.
	Others []addrs.Platform
	Own    bool
	Rule   evidencerules.Rule
	// Offers are packages of bundles and mirrors, Stores the evidence that these give, and OffersKey is
	// equal for stages with the same ones.
	Offers    providerfetch.Offers
	Stores    []evidence.Evidence
	OffersKey string
	Installed string
	// Refuse returns the error for lock entries that do not decide their provider and must not change, or
	// nil.
	Refuse  func([]Refusal) error
	OnEvent func(event.Event) // may be called by several goroutines at once

	Requirements Requirements

	getter     *providerfetch.Getter
	prefetches sync.WaitGroup
}

func (s *Stage) Open() {
	if s.Source == nil {
		s.Source, s.SourceKey = s.Client.Source, ""
	}
	s.getter = s.Client.Getter(s.Source)
	s.getter.Offers, s.getter.PluginCache, s.getter.Offline = s.Offers, s.Client.PluginCache, s.Offline
	s.getter.Installed = s.Installed
	s.getter.Rule, s.getter.Stores, s.getter.Complete = s.Rule, s.Stores, s.completes()
	s.getter.Accept, s.getter.OnEvent = s.Rules.CheckAuthentication, s.OnEvent
}

// completes reports whether all hashes that the source confirms are added to the lock: not without
// requests, whatever an earlier run has learned.
func (s *Stage) completes() bool { return !s.Locked && !s.Offline }

// Begin starts requests for providers, until ctx ends: for required ones as soon as a requirement is added,
// and after [Requirements.Expect] for the others in the lock. One that turns out not to be required costs
// at most a transfer that had begun. It is called after [Stage.Open] and before [Stage.Wait].
func (s *Stage) Begin(ctx context.Context) {
	s.Requirements.begin = func(use config.ProviderRequirement, by requirer) { s.prefetch(ctx, use, by) }
	s.Requirements.expect = func(isRequired func(addrs.Provider) bool) { s.prefetchLocked(ctx, isRequired) }
}

// Wait waits for the requests of Begin.
func (s *Stage) Wait() { s.prefetches.Wait() }

// prefetch requests the package of the locked version if the lock decides the provider as far as this use
// shows, or else the versions. Finish gets the remembered answers or errors.
func (s *Stage) prefetch(ctx context.Context, use config.ProviderRequirement, by requirer) {
	p := Required{Address: use.Provider, by: by}
	entry, has := s.Lock.Provider(use.Provider)
	keeps := has && !s.Update.updates(use.Provider)
	switch {
	case s.Offline || s.Rules.CheckProvider(use.Provider) != nil:
	case keeps && use.Allows(entry.Version) && (proves(entry.Hashes) || entry.IsTakenOver() && !s.Locked):
		s.prefetches.Go(func() { s.prefetchPackage(ctx, p, entry.Provider) })
	case !keeps && !s.Locked:
		s.prefetches.Go(func() { _, _ = s.listing(ctx, p, false) })
	}
}

// prefetchLocked requests the packages of locked providers that the root module does not require, which
// would otherwise wait for the other modules. Entries that OpenTofu never uses are left out.
func (s *Stage) prefetchLocked(ctx context.Context, isRequired func(addrs.Provider) bool) {
	for _, entry := range s.Lock.Managed() {
		if s.Offline || isRequired(entry.Address) || s.Lock.inState(entry.Address) != entry.Address || s.Update.updates(entry.Address) || s.Rules.CheckProvider(entry.Address) != nil || !proves(entry.Hashes) {
			continue
		}
		s.prefetches.Go(func() { s.prefetchPackage(ctx, Required{Address: entry.Address}, entry) })
	}
}

func (s *Stage) prefetchPackage(ctx context.Context, p Required, entry lockfile.Provider) {
	_, _ = s.packageOf(ctx, Selected{p, entry.Version, entry})
}

// Finish selects, gets and checks all providers, required ones and those that stay in the lock. It changes
// nothing in the project.
func (s *Stage) Finish(ctx context.Context, required []Required) (*Plan, error) {
	others := FindUnrequired(s.Lock, required, s.Prune)
	if len(others.Kept) > 0 {
		s.OnEvent(event.Warning{
			Kind:    event.WarningKeptProviders,
			Message: fmt.Sprintf("the lock has providers that no module requires; they stay, because the state may need them: %s", namesOf(others.Kept)),
		})
	}
	selected, err := s.selectAll(ctx, Sorted(required, others.Kept))
	if err != nil {
		return nil, err
	}
	for _, p := range selected {
		s.OnEvent(event.ProviderResolved{Provider: p.Address, Version: p.Version, Locked: !p.Entry.Version.IsZero()})
	}
	plan := &Plan{stage: s, Gone: others.Gone, Providers: make([]Planned, len(selected))}
	errs := inParallel(selected, func(i int, p Selected) (err error) {
		if plan.Providers[i], err = s.get(ctx, p); err == nil {
			s.OnEvent(event.ProviderReady{Provider: p.Address, Version: p.Version})
		}
		return err
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return plan, plan.planLock()
}

func (s *Stage) warn(text string) { s.OnEvent(event.Warning{Message: text}) }

func namesOf(all []Required) string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Address.ForDisplay()
	}
	return strings.Join(names, ", ")
}

func (s *Stage) get(ctx context.Context, p Selected) (Planned, error) {
	planned := Planned{Selected: p}
	others := make([]*providerfetch.Proof, len(s.Others))
	errs := inParallel(append([]addrs.Platform{addrs.CurrentPlatform()}, s.Others...), func(i int, platform addrs.Platform) (err error) {
		if i == 0 {
			planned.Got, err = s.getOwn(ctx, p)
		} else {
			others[i-1], err = s.getHashes(ctx, p, platform)
		}
		return err
	})
	if mismatch, ok := errors.AsType[*getproviders.MismatchError](errs[0]); ok && mismatch.OtherPlatforms && s.completes() && errors.Join(errs[1:]...) == nil {
		planned.notLocked = append(planned.notLocked, addrs.CurrentPlatform())
		planned.Got, errs[0] = s.getUnlocked(ctx, p, others, mismatch)
	}
	if err := errors.Join(errs...); err != nil {
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

// getOwn requests a package for this machine once per client, and applies the policies of each project.
func (s *Stage) getOwn(ctx context.Context, p Selected) (*providerfetch.Got, error) {
	got, err := s.packageOf(ctx, p)
	if err == nil {
		err = s.Rules.CheckAuthentication(got.Authentication)
	}
	if err != nil {
		return nil, s.fail(ctx, p, addrs.CurrentPlatform(), err)
	}
	s.warnIncomplete(p, &got.Proof)
	warnings := slices.Concat(got.Authentication.Warnings, got.Warnings)
	if weak := got.Authentication.Weak; weak != "" && got.Asked {
		warnings = append(warnings, weak+"; the policy allows that")
	}
	for _, text := range warnings {
		s.warn(fmt.Sprintf("provider %s %s: %s", p.Address.ForDisplay(), p.Version, text))
	}
	return got, nil
}

func (s *Stage) packageOf(ctx context.Context, p Selected) (*providerfetch.Got, error) {
	want := p.wanted(addrs.CurrentPlatform())
	ctx = p.ruled(ctx, s.Rules)
	return s.Client.packages.Do(ctx, s.keyOf(ctx, p.Required, want), func(ctx context.Context) (*providerfetch.Got, error) {
		return s.getter.Get(ctx, want)
	})
}

func (s *Stage) getHashes(ctx context.Context, p Selected, platform addrs.Platform) (*providerfetch.Proof, error) {
	want := p.wanted(platform)
	ruled := p.ruled(ctx, s.Rules)
	proof, err := s.Client.hashes.Do(ruled, s.keyOf(ruled, p.Required, want), func(ctx context.Context) (*providerfetch.Proof, error) {
		return s.getter.Hashes(ctx, want)
	})
	if err == nil {
		err = s.Rules.CheckAuthentication(proof.Authentication)
	}
	if err != nil {
		return nil, s.fail(ctx, p, platform, fmt.Errorf("for %s: %w", platform, err))
	}
	s.warnIncomplete(p, proof)
	return proof, nil
}

func (s *Stage) warnIncomplete(p Selected, proof *providerfetch.Proof) {
	if proof.Incomplete != nil {
		s.warn(fmt.Sprintf("provider %s %s: the lock gets no hashes for other platforms: %s", p.Address.ForDisplay(), p.Version, p.withoutSubject(proof.Incomplete)))
	}
}

func (p Selected) wanted(platform addrs.Platform) providerfetch.Want {
	return providerfetch.Want{Provider: p.Address, Version: p.Version, Platform: platform, Locked: p.Entry.Hashes}
}

func (s *Stage) fail(ctx context.Context, p Selected, platform addrs.Platform, err error) error {
	unconfirmed, hasCopy := errors.AsType[*getproviders.UnconfirmedError](err)
	if errors.Is(err, providerfetch.ErrNotAtHand) && hasCopy {
		err = fmt.Errorf("%w: %w", unconfirmed, origins.ErrOffline)
	} else if errors.Is(err, providerfetch.ErrNotAtHand) {
		err = fmt.Errorf("its package is not in the cache: %w", origins.ErrOffline)
	} else {
		err = s.explainPackage(ctx, p, platform, err)
	}
	return p.Fail(p.Version, err)
}

type Planned struct {
	Selected
	Got       *providerfetch.Got
	LockEntry lockfile.Provider
	// hashes are those of all wanted platforms.
	hashes []hashing.Hash
	// notLocked are the other platforms without a hash in the lock.
	notLocked []addrs.Platform
}
