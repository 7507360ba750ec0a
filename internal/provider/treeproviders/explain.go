package treeproviders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// repositoryHost is most often mistaken for a registry.
const repositoryHost = "github.com"

func explainListing(p Required, all []Required, err error) error {
	switch {
	case p.Address.Hostname == repositoryHost && !errors.Is(err, origins.ErrOffline):
		return fmt.Errorf("%w; %s has no registry of providers: a provider's source address names a registry, not the provider's repository", err, repositoryHost)
	case !errors.Is(err, getproviders.ErrNotFound):
		return err
	}
	unknown := &config.UnknownProviderError{Err: err}
	for _, other := range all {
		if other.Address.Type == p.Address.Type && other.Address != p.Address {
			unknown.SameType = append(unknown.SameType, other.Address)
		}
	}
	if renamed, ok := errors.AsType[*getproviders.RenamedError](err); ok {
		unknown.Renamed = renamed.Now
	}
	if i := slices.IndexFunc(p.Uses, func(use config.ProviderRequirement) bool { return use.Implied && use.Range.Filename != "" }); i >= 0 {
		unknown.ImpliedBy = &p.Uses[i]
	}
	return unknown
}

// explainPackage adds which other version can be used, if the source's listing shows one.
func (s *Stage) explainPackage(ctx context.Context, p Selected, platform addrs.Platform, err error) error {
	_, protocol := errors.AsType[*registryclient.ProtocolError](err)
	if !protocol && !errors.Is(err, getproviders.ErrNotFound) && !errors.Is(err, getproviders.ErrUnsupportedPlatform) {
		return err
	}
	listing, listingErr := s.listing(ctx, p.Required, false)
	if listingErr != nil {
		return err
	}
	unusable := &config.UnusableVersionError{Platform: platform, Unlisted: true, Err: err}
	var usable []versions.Version
	for _, listed := range listing.Versions {
		if listed.Version == p.Version {
			unusable.Unlisted = false
			unusable.Platforms = slices.SortedFunc(slices.Values(listed.Platforms), func(a, b addrs.Platform) int { return strings.Compare(a.String(), b.String()) })
		} else if listed.Platforms == nil && !listed.Incompatible {
			unusable.Unknown = append(unusable.Unknown, listed.Version)
		} else if listed.UsableOn(platform) {
			usable = append(usable, listed.Version)
		}
	}
	if unusable.Other, err = versions.SelectProvider(usable, p.Want); err == nil {
		unusable.Allowed = true
	} else if newest, err := versions.SelectProvider(usable, versions.ProviderConstraints{}); err == nil {
		unusable.Other = newest
	}
	return unusable
}

func (p Required) withAllowed(listing getproviders.Listing) Required {
	p.Uses = slices.Clone(p.Uses)
	for i, use := range p.Uses {
		want, err := use.Constraints()
		if err == nil && !want.IsZero() {
			p.Uses[i].Allowed = Newest(listing, want).String()
		}
	}
	return p
}

// Newest returns the zero Version if none meets the constraints.
func Newest(listing getproviders.Listing, want versions.ProviderConstraints) versions.Version {
	selected, err := versions.SelectProvider(listing.Numbers(), want)
	if err != nil {
		return versions.Version{}
	}
	return selected
}
