package storefetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/ocistore"
)

type storedProvider struct {
	artifact.Provider
	store    ocistore.Store
	locked   []hashing.Hash
	evidence evidence.Evidence
}

var _ getproviders.Package = (*storedProvider)(nil)

func providerOf(ctx context.Context, store ocistore.Store, r artifact.Release, platform addrs.Platform) (*storedProvider, error) {
	targets, err := Targets(ctx, store, r)
	if err != nil {
		return nil, err
	}
	target, ok := targets.For(platform)
	if !ok {
		missing := &getproviders.MissingPlatformError{Store: store.Info().Name, Platform: platform}
		for _, t := range targets {
			missing.Platforms = append(missing.Platforms, t.Platform)
		}
		return nil, missing
	}
	return targetOf(ctx, store, r, target)
}

func targetOf(ctx context.Context, store ocistore.Store, r artifact.Release, target oci.Target) (*storedProvider, error) {
	text, err := TargetManifest(ctx, store, r.Provider, target)
	if err != nil {
		return nil, err
	}
	a, err := r.ParseTarget(target.Platform, text)
	if err != nil {
		return nil, err
	}
	return &storedProvider{Provider: a, store: store, evidence: EvidenceOf(store)}, nil
}

func (p *storedProvider) Location() string { return p.store.Info().Name }

func (p *storedProvider) Dir() string { return "" }

func (p *storedProvider) Archive() hashing.Hash { return p.ArchiveHash() }

func (p *storedProvider) ReportsH1() bool { return false }

// Authenticate confirms only hashes that the lock already has.
func (p *storedProvider) Authenticate(context.Context) (getproviders.Authentication, error) {
	auth := getproviders.Authentication{Evidence: p.evidence}
	if slices.Contains(p.locked, p.ArchiveHash()) {
		auth.Hashes = []hashing.Hash{p.ArchiveHash()}
		auth.Own = auth.Hashes
	}
	return auth, nil
}

func (p *storedProvider) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	ctx = httpx.WithoutPointer(ctx)
	repository, err := p.store.Repository(ctx, p.Statement.Provider)
	if err == nil {
		err = oci.Download(ctx, repository, p.Layer, file, progress)
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("its archive in %s cannot be used: %w", p.store.Info().Name, err)
	}
	return err
}

// Offers returns nil if there are no stores.
func (s *Stores) Offers() providerfetch.Offers {
	if len(s.Order) == 0 {
		return nil
	}
	return func(ctx context.Context, want providerfetch.Want) iter.Seq[providerfetch.Offer] {
		ctx = httpx.WithoutPointer(ctx) // the user or the project has named the stores
		return func(yield func(providerfetch.Offer) bool) {
			for _, i := range s.Order {
				if s.Offline && !s.store(i).Info().Local || s.hasFailed(i) {
					continue
				}
				offer := s.offer(ctx, i, want)
				if (offer.Package != nil || offer.Err != nil) && !yield(offer) {
					return
				}
			}
		}
	}
}

func (s *Stores) offer(ctx context.Context, at ID, want providerfetch.Want) providerfetch.Offer {
	store := s.store(at)
	found, err := providerOf(ctx, store, artifact.Release{Provider: want.Provider, Version: want.Version}, want.Platform)
	_, isMissing := errors.AsType[*getproviders.MissingPlatformError](err)
	switch {
	case err == nil && !found.Statement.IsIn(want.Locked):
		mismatch := &getproviders.MismatchError{Location: store.Info().Name, Got: fmt.Sprint(found.Statement.Hashes), Locked: true}
		for _, h := range want.Locked {
			mismatch.Want = append(mismatch.Want, string(h))
		}
		return providerfetch.Offer{Err: mismatch}
	case err == nil:
		found.locked = want.Locked
		return providerfetch.Offer{Package: found, Trusted: store.Info().Trusted}
	case ctx.Err() != nil, errors.Is(err, fs.ErrNotExist), isMissing && !store.Info().Local:
		return providerfetch.Offer{}
	case isMissing:
		return providerfetch.Offer{Err: err}
	case isOfArtifact(err):
		return providerfetch.Offer{Err: fmt.Errorf("its package in %s cannot be used: %w", store.Info().Name, err)}
	case s.fail(at):
		return providerfetch.Offer{Err: fmt.Errorf("%s cannot be used: %w", store.Info().Name, err)}
	}
	return providerfetch.Offer{}
}

func (s *Stores) Evidence() []evidence.Evidence {
	var all []evidence.Evidence
	for _, i := range s.Order {
		if e := EvidenceOf(s.store(i)); !e.IsZero() {
			all = append(all, e)
		}
	}
	return all
}

// HasProvider requests only the index and the manifest. The error is about the store.
func HasProvider(ctx context.Context, store ocistore.Store, entry lockfile.Provider, platform addrs.Platform) (Presence, error) {
	found, err := providerOf(ctx, store, artifact.ReleaseOf(entry), platform)
	_, isMissing := errors.AsType[*getproviders.MissingPlatformError](err)
	switch {
	case isMissing, errors.Is(err, fs.ErrNotExist), isOfArtifact(err):
		return Missing, nil
	case err != nil:
		return Missing, err
	case !found.Statement.IsIn(entry.Hashes):
		return Other, nil
	}
	return Present, nil
}
