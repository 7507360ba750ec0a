package treeproviders

import (
	"context"
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// CheckLock returns an error if the lock does not decide all required providers. It is meant for
// stages whose lock must not change, and sends no requests.
func (s *Stage) CheckLock(ctx context.Context, required []Required) error {
	_, err := s.selectAll(ctx, required)
	return err
}

// OfEntry returns the provider with the version in a lock entry, whether or not a module requires
// it.
func (s *Stage) OfEntry(entry lockfile.Provider) (Selected, error) {
	p := Required{Address: entry.Address}
	if err := s.Rules.CheckProvider(p.Address); err != nil {
		return Selected{}, p.Fail("", err)
	}
	version, err := versions.Parse(entry.Version)
	if err != nil {
		return Selected{}, p.Fail(entry.Version, err)
	}
	if !proves(entry.Hashes) {
		return Selected{}, s.Refuse([]Refusal{p.refusal("the lock has no h1: or zh: hash of it")})
	}
	return Selected{p, version, entry}, nil
}

// Archive gets the archive of a provider's package for a platform. It is like
// [providers.Getter.Archive], but its errors name the provider.
func (s *Stage) Archive(ctx context.Context, p Selected, platform addrs.Platform) (*providers.Archive, error) {
	got, err := s.getter.Archive(s.Rules.ForProviders(ctx), p.wanted(platform))
	mismatch, isMismatch := errors.AsType[*getproviders.MismatchError](err)
	switch {
	case err == nil:
		return got, nil
	case isMismatch && mismatch.Locked && platform != addrs.CurrentPlatform() && !hasScheme(p.Entry.Hashes, "zh"):
		return nil, s.Refuse([]Refusal{p.refusal(fmt.Sprintf("the lock has no h1: or zh: hash of its package for %s", platform))})
	case errors.Is(err, providers.ErrNotAtHand):
		return nil, p.Fail(p.Version.String(), fmt.Errorf("its archive must be downloaded: %w", origins.ErrOffline))
	}
	return nil, s.fail(ctx, p, platform, fmt.Errorf("for %s: %w", platform, err))
}
