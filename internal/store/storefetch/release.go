package storefetch

import (
	"context"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
	"github.com/cotterpin/cotter/ocistore"
	"github.com/cotterpin/cotter/versions"
)

// ReadProvider is a package that ReadRelease found.
type ReadProvider struct {
	Release  artifact.Release
	Platform addrs.Platform
	Hashes   []hashing.Hash
	// Err is why the package cannot be read or does not match its description.
	Err error
}

// ReadRelease gets a store's packages of a provider version and compares them with everything that the
// store states. tag is that of the release. With keep, this machine's package stays in the user's cache; of
// others only the hashes are recorded, as imported by the user.
func ReadRelease(ctx context.Context, store ocistore.Store, tag string, getter func(getproviders.Source) *providerfetch.Getter, keep bool) []ReadProvider {
	text, err := Manifest(ctx, store, tag)
	if err != nil {
		return []ReadProvider{{Err: err}}
	}
	release, err := artifact.ParseReference(text)
	if err == nil && release.Tag() != tag {
		err = errOtherEntry
	}
	if err != nil {
		return []ReadProvider{{Err: err}}
	}
	targets, err := Targets(ctx, store, release)
	if err != nil {
		return []ReadProvider{{Release: release, Err: err}}
	}
	all := make([]ReadProvider, len(targets))
	for i, target := range targets {
		all[i] = ReadProvider{Release: release, Platform: target.Platform}
		all[i].Hashes, all[i].Err = readTarget(ctx, store, release, target, getter, keep)
	}
	return all
}

func readTarget(ctx context.Context, store ocistore.Store, r artifact.Release, target oci.Target, getter func(getproviders.Source) *providerfetch.Getter, keep bool) ([]hashing.Hash, error) {
	found, err := targetOf(ctx, store, r, target)
	if err != nil {
		return nil, err
	}
	if !store.Info().Trusted {
		return found.Statement.Hashes, ocistore.ErrDeliversOnly
	}
	found.locked, found.evidence = found.Statement.Hashes, evidence.Evidence{Kind: evidence.Imported}
	get := getter(oneProvider{found})
	get.Rule = evidencerules.Rule{Provider: []evidence.Kind{evidence.Imported}}
	want := providerfetch.Want{Provider: r.Provider, Version: r.Version, Platform: target.Platform, Locked: found.Statement.Hashes}
	var proof *providerfetch.Proof
	if keep && target.Platform == addrs.CurrentPlatform() {
		var got *providerfetch.Got
		if got, err = get.Get(ctx, want); err == nil {
			proof = &got.Proof
		}
	} else {
		proof, err = get.Hashes(ctx, want)
	}
	if err != nil {
		return found.Statement.Hashes, err
	}
	for _, h := range found.Statement.Hashes {
		if h.Scheme() == "h1" && h != proof.H1 {
			return found.Statement.Hashes, &getproviders.MismatchError{Location: store.Info().Name, Want: []string{string(h)}, Got: string(proof.H1)}
		}
	}
	return found.Statement.Hashes, nil
}

type oneProvider struct{ pkg *storedProvider }

func (p oneProvider) Versions(context.Context, addrs.Provider) (getproviders.Listing, error) {
	return getproviders.Listing{Versions: []getproviders.Version{{Version: p.pkg.Statement.Version}}}, nil
}

func (p oneProvider) Package(context.Context, addrs.Provider, versions.Version, addrs.Platform) (getproviders.Package, error) {
	return p.pkg, nil
}

func (p oneProvider) Evidence(addrs.Provider) []evidence.Evidence {
	return []evidence.Evidence{p.pkg.evidence}
}

func (oneProvider) Local() getproviders.Source { return getproviders.Multi(nil) }
