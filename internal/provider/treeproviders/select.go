package treeproviders

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

var ErrNotRequired = errors.New("no module requires this provider")

// Update selects the providers whose locked versions are replaced by the newest ones.
type Update struct {
	All       bool
	Providers []addrs.Provider
	// To is the version for the only provider in Providers; zero means the newest that fits.
	To             versions.Version
	AllowDowngrade bool
	// Optional allows Providers that no module requires.
	Optional bool
}

// updates reports whether the request asks for the newest version, regardless of the lock.
func (u Update) updates(p addrs.Provider) bool { return u.All || slices.Contains(u.Providers, p) }

// moves reports whether the newest version is selected even if the locked one fits: of a provider that is
// only in the lock, only if the request names it.
func (u Update) moves(p Required) bool {
	return u.updates(p.Address) && (!p.isLockedOnly() || slices.Contains(u.Providers, p.Address))
}

func (u Update) want(p Required) (versions.ProviderConstraints, error) {
	if u.To.IsZero() || !slices.Contains(u.Providers, p.Address) {
		return p.Want, nil
	}
	if !p.Fits(u.To) {
		return versions.ProviderConstraints{}, fmt.Errorf("the constraints %q do not allow this version: change them first", p.Want)
	}
	return versions.ParseProviderConstraints(u.To.String())
}

type Selected struct {
	Required
	Version versions.Version
	// Entry is the lock's; zero if it has none for this version.
	Entry lockfile.Provider
}

// selectAll selects one version of each provider. Entries that do not decide their provider are refused if
// the lock must not change. It fails without requests for providers that a policy refuses, or that the
// request names and nothing requires.
func (s *Stage) selectAll(ctx context.Context, required []Required) ([]Selected, error) {
	if errs := append(s.missing(required), s.refused(required)...); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	selected, errs := s.selectEach(ctx, required, false)
	return selected, errors.Join(errs...)
}

// Check selects versions for a tree in which not all modules could be read, and returns the errors, to
// which the other modules can only add. It sends no requests and waits for none, and leaves out providers
// whose sources have not answered.
func (s *Stage) Check(ctx context.Context, required []Required) error {
	if errs := s.refused(required); len(errs) > 0 {
		return errors.Join(errs...)
	}
	_, errs := s.selectEach(ctx, required, true)
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, errNoAnswer) })...)
}

func (s *Stage) selectEach(ctx context.Context, required []Required, known bool) ([]Selected, []error) {
	selected := make([]Selected, len(required))
	errs := inParallel(required, func(i int, p Required) (err error) {
		selected[i], err = s.selectOne(ctx, p, required, known)
		return err
	})
	var refused []Refusal
	for i, err := range errs {
		if r, ok := errors.AsType[Refusal](err); ok {
			refused, errs[i] = append(refused, r), nil
		}
	}
	return selected, append([]error{s.Refuse(refused)}, errs...)
}

func (s *Stage) missing(required []Required) []error {
	var errs []error
	for _, address := range s.Update.Providers {
		if !s.Update.Optional && !slices.ContainsFunc(required, func(p Required) bool { return p.Address == address }) {
			errs = append(errs, &config.ProviderError{Provider: address, Err: ErrNotRequired})
		}
	}
	return errs
}

func (s *Stage) refused(required []Required) []error {
	var errs []error
	for _, p := range required {
		if err := s.Rules.CheckProvider(p.Address); err != nil {
			errs = append(errs, p.Fail(versions.Version{}, err))
		}
	}
	return errs
}

// selectOne returns the locked version if it fits and is not updated, or else the newest. The error is a
// Refusal if the lock would have to change but must not.
func (s *Stage) selectOne(ctx context.Context, p Required, all []Required, known bool) (Selected, error) {
	entry, has := s.Lock.entry(p)
	fits := has && p.Fits(entry.Version)
	switch {
	case s.Locked && !p.IsDecided(entry, has):
		return Selected{}, p.Undecided(entry, has)
	case s.Locked && !proves(entry.Hashes):
		return Selected{}, p.refusal("the lock has no h1: or zh: hash of it")
	case s.Locked || fits && !s.Update.moves(p):
		return Selected{p, entry.Version, entry.Provider}, nil
	}
	listing, err := s.listing(ctx, p, known)
	if err != nil {
		return Selected{}, p.Fail(versions.Version{}, explainListing(p, all, err))
	}
	for _, text := range listing.Warnings {
		s.warn(fmt.Sprintf("provider %s: %s", p.Address.ForDisplay(), text))
	}
	want, err := s.Update.want(p)
	if err != nil {
		return Selected{}, p.Fail(s.Update.To, err)
	}
	selected, err := versions.SelectProvider(listing.Numbers(), want)
	switch {
	case err != nil && len(listing.Versions) == 0:
		return Selected{}, p.Fail(versions.Version{}, explainListing(p, all, fmt.Errorf("%w: %w", getproviders.ErrNotFound, err)))
	case err != nil:
		return Selected{}, p.withAllowed(listing).Fail(versions.Version{}, err)
	case fits && selected.Compare(entry.Version) < 0 && !s.Update.AllowDowngrade:
		return Selected{}, p.Fail(versions.Version{}, &versions.DowngradeError{Locked: entry.Version, Selected: selected})
	case selected != entry.Version:
		return Selected{Required: p, Version: selected}, nil
	}
	return Selected{p, selected, entry.Provider}, nil
}

// proves reports whether the hashes can prove a package. Malformed ones match none.
func proves(hashes []hashing.Hash) bool {
	return slices.ContainsFunc(hashes, func(h hashing.Hash) bool {
		_, err := hashing.ParseHash(string(h))
		return err == nil && (h.Scheme() == "h1" || h.Scheme() == "zh")
	})
}

func hasScheme(hashes []hashing.Hash, scheme string) bool {
	return slices.ContainsFunc(hashes, func(h hashing.Hash) bool { return h.Scheme() == scheme })
}

var errNoAnswer = errors.New("its source has not answered")

// listing returns errNoAnswer with known set, instead of a request, if the source has not answered yet.
func (s *Stage) listing(ctx context.Context, p Required, known bool) (getproviders.Listing, error) {
	switch {
	case s.Offline:
		return getproviders.Listing{}, fmt.Errorf("its versions are not known: %w", origins.ErrOffline)
	case !known:
		return s.Client.Listing(ctx, s.Rules, s.Source, s.SourceKey, p)
	}
	listing, ok, err := s.Client.knownListing(ctx, s.Rules, s.SourceKey, p)
	if !ok {
		return getproviders.Listing{}, errNoAnswer
	}
	return listing, err
}
