package cotter

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/hashing"
)

// OriginProvider says whether the source of a locked provider still confirms its entry.
type OriginProvider struct {
	Provider addrs.Provider
	// Version is the locked version.
	Version string
	// Location is where the source has the package for this platform, or for another one if
	// it has none for this.
	Location string
	// Evidence is who has confirmed the release: the registry, or a mirror of
	// Installer.Providers.
	Evidence evidence.Evidence
	// Unknown are the hashes in the lock that belong to no package of the release, for any
	// platform, in the order of the lock.
	Unknown []hashing.Hash
	// Err is set if the source could not be asked, or does not confirm the release. It is a
	// *[ProviderError].
	Err error
}

// Moved reports whether the source confirms other content than the lock.
func (o OriginProvider) Moved() bool { return o.Err == nil && len(o.Unknown) > 0 }

// VerifyRemoteProviders asks the sources of all locked providers for the hashes of their
// releases, and compares them with the lock: registries for their signed checksums, or the
// mirrors of [Installer.Providers]. Every h1 and zh hash in the lock must be one of them, or
// belong to a package that has one of them. An archive is downloaded if its h1 is not known
// otherwise. Nothing is changed. The result is in the order of the lock.
func (in *Installer) VerifyRemoteProviders(ctx context.Context, req Request) (_ []OriginProvider, err error) {
	if req.Providers == nil {
		req.Providers = &Providers{}
	}
	q, err := in.openToAsk(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.close()) }()
	rule := evidence.For(evidence.VerifyRemote)
	rule.Provider = append(slices.Clone(rule.Provider), evidence.Mirror) // an origin, if the user has configured it as one
	stage, err := quietProviderStage(q.openProject, q.session, q.events, rule)
	if err != nil {
		return nil, err
	}
	entries := stage.lock.Providers()
	list := make([]OriginProvider, len(entries))
	var wait sync.WaitGroup
	for i, entry := range entries {
		wait.Go(func() {
			o := &list[i]
			o.Provider, o.Version = entry.Address, entry.Version
			found, err := stage.stage.CheckOrigin(ctx, entry)
			if err != nil {
				o.Err = err
				return
			}
			o.Location, o.Evidence, o.Unknown = found.Location, found.Evidence, found.Unknown
		})
	}
	wait.Wait()
	return list, ctx.Err()
}
