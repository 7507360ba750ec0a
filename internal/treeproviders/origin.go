package treeproviders

import (
	"context"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/lockfile"
)

// usualPlatforms are the platforms that providers are published for. They are tried if a source
// does not list the platforms of a version.
var usualPlatforms = []string{
	"darwin_amd64", "darwin_arm64", "freebsd_386", "freebsd_amd64", "freebsd_arm", "freebsd_arm64",
	"linux_386", "linux_amd64", "linux_arm", "linux_arm64", "openbsd_386", "openbsd_amd64", "solaris_amd64",
	"windows_386", "windows_amd64", "windows_arm64",
}

// CheckOrigin asks the source of a locked provider which hashes of the entry it confirms now. See
// [providers.Getter.CheckLocked].
func (s *Stage) CheckOrigin(ctx context.Context, entry lockfile.Provider) (*providers.Confirmed, error) {
	p, err := s.OfEntry(entry)
	if err != nil {
		return nil, err
	}
	if s.Offline {
		return nil, p.Fail(entry.Version, origins.ErrOffline)
	}
	others, err := s.platformsOf(ctx, p)
	if err != nil {
		return nil, p.Fail(entry.Version, err)
	}
	current := addrs.CurrentPlatform()
	found, err := s.getter.CheckLocked(s.Rules.ForProviders(ctx), p.wanted(current), others)
	if err != nil {
		return nil, p.Fail(entry.Version, err)
	}
	return found, nil
}

// platformsOf returns the platforms for which a version may have a package, without the current
// one.
func (s *Stage) platformsOf(ctx context.Context, p Selected) ([]addrs.Platform, error) {
	listing, err := s.listing(ctx, p.Address)
	if err != nil {
		return nil, err
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
