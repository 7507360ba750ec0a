package treeproviders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

func (s *Stage) CheckLock(ctx context.Context, required []Required) error {
	_, err := s.selectAll(ctx, required)
	return err
}

// OfEntry returns the provider of a lock entry, required or not. The requirements that have been added
// decide where requests for it may be sent.
func (s *Stage) OfEntry(entry lockfile.Provider) (Selected, error) {
	p := Required{Address: entry.Address, by: s.Requirements.by[entry.Address]}
	if err := s.Rules.CheckProvider(p.Address); err != nil {
		return Selected{}, p.Fail(versions.Version{}, err)
	}
	if !proves(entry.Hashes) {
		return Selected{}, s.Refuse([]Refusal{p.refusal("the lock has no h1: or zh: hash of it")})
	}
	return Selected{p, entry.Version, entry}, nil
}

func (s *Stage) Archive(ctx context.Context, p Selected, platform addrs.Platform) (*providerfetch.Archive, error) {
	got, err := s.getter.Archive(p.ruled(ctx, s.Rules), p.wanted(platform))
	mismatch, isMismatch := errors.AsType[*getproviders.MismatchError](err)
	switch {
	case err == nil:
		return got, nil
	case isMismatch && mismatch.OtherPlatforms && platform != addrs.CurrentPlatform():
		return nil, s.Refuse([]Refusal{p.refusal(fmt.Sprintf("the lock has no h1: or zh: hash of its package for %s", platform))})
	case errors.Is(err, providerfetch.ErrNotAtHand):
		return nil, p.Fail(p.Version, fmt.Errorf("its archive must be downloaded: %w", origins.ErrOffline))
	}
	return nil, s.fail(ctx, p, platform, fmt.Errorf("for %s: %w", platform, err))
}

// usualPlatforms are tried if a source does not list the platforms of a version.
var usualPlatforms = []string{
	"darwin_amd64", "darwin_arm64", "freebsd_386", "freebsd_amd64", "freebsd_arm", "freebsd_arm64",
	"linux_386", "linux_amd64", "linux_arm", "linux_arm64", "openbsd_386", "openbsd_amd64", "solaris_amd64",
	"windows_386", "windows_amd64", "windows_arm64",
}

// CheckOrigin is [providerfetch.Getter.CheckLocked] for a lock entry.
func (s *Stage) CheckOrigin(ctx context.Context, entry lockfile.Provider) (*providerfetch.Confirmed, error) {
	p, err := s.OfEntry(entry)
	if err != nil {
		return nil, err
	}
	found, err := s.checkLocked(ctx, p)
	if s.Offline && errors.Is(err, providerfetch.ErrNotAtHand) {
		err = origins.ErrOffline
	}
	if err != nil {
		return nil, p.Fail(entry.Version, err)
	}
	return found, nil
}

func (s *Stage) checkLocked(ctx context.Context, p Selected) (*providerfetch.Confirmed, error) {
	others, err := s.platformsOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.getter.CheckLocked(p.ruled(ctx, s.Rules), p.wanted(addrs.CurrentPlatform()), others)
}

func (s *Stage) platformsOf(ctx context.Context, p Selected) ([]addrs.Platform, error) {
	var listing getproviders.Listing
	if !s.Offline {
		var err error
		if listing, err = s.listing(ctx, p.Required, false); err != nil {
			return nil, err
		}
	}
	var all []addrs.Platform
	for _, listed := range listing.Versions {
		if listed.Version == p.Version {
			all = slices.Clone(listed.Platforms)
		}
	}
	if all == nil {
		for _, name := range usualPlatforms {
			platform, err := addrs.ParsePlatform(name)
			if err != nil {
				return nil, err
			}
			all = append(all, platform)
		}
	}
	all = slices.DeleteFunc(all, func(platform addrs.Platform) bool { return platform == addrs.CurrentPlatform() })
	slices.SortFunc(all, func(a, b addrs.Platform) int { return strings.Compare(a.String(), b.String()) })
	return all, nil
}
