package cotter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// storedProvider is the package of a provider in a store.
type storedProvider struct {
	modpkg.ProviderArtifact
	store  PackageStore
	locked []hashing.Hash
	// distrust is why the artifact does not confirm that it is what it says; nil if it does.
	distrust error
}

var _ getproviders.Package = (*storedProvider)(nil)

// providerOf returns the package that a store has for a platform. A version that it does
// not have is an error over fs.ErrNotExist; one that it has for other platforms, a
// *[MissingPlatformError].
func providerOf(ctx context.Context, store PackageStore, r modpkg.Release, platform addrs.Platform) (*storedProvider, error) {
	text, err := store.ProviderIndex(ctx, r.Provider, r.Version)
	if err != nil {
		return nil, err
	}
	targets, err := modpkg.ParseIndex(text)
	if err != nil {
		return nil, err
	}
	target, ok := modpkg.TargetFor(targets, platform)
	if !ok {
		missing := &MissingPlatformError{Store: store.Name(), Platform: platform}
		for _, t := range targets {
			missing.Platforms = append(missing.Platforms, t.Platform)
		}
		return nil, missing
	}
	return targetOf(ctx, store, r, target)
}

// targetOf returns the package for one platform.
func targetOf(ctx context.Context, store PackageStore, r modpkg.Release, target modpkg.Target) (*storedProvider, error) {
	text, err := store.ProviderManifest(ctx, r.Provider, target.Digest, target.Size)
	if err != nil {
		return nil, err
	}
	artifact, err := r.ParseTarget(target, text)
	if err != nil {
		return nil, err
	}
	return &storedProvider{ProviderArtifact: artifact, store: store, distrust: store.CheckTrust(text)}, nil
}

// MissingPlatformError says that a store has the version of a provider, but not for the
// platform that is wanted.
type MissingPlatformError struct {
	// Store is the name of the store.
	Store    string
	Platform addrs.Platform
	// Platforms are those that the store has the version for.
	Platforms []addrs.Platform
}

func (e *MissingPlatformError) Error() string {
	return fmt.Sprintf("%s does not have it for %s, only for %s", e.Store, e.Platform, displayed(e.Platforms, addrs.Platform.String))
}

// Location implements [getproviders.Package].
func (p *storedProvider) Location() string { return p.store.Name() }

// Dir implements [getproviders.Package].
func (p *storedProvider) Dir() string { return "" }

// ReportsH1 implements [getproviders.Package].
func (p *storedProvider) ReportsH1() bool { return false }

// Authenticate implements [getproviders.Package]. A store vouches for nothing that the lock
// does not have.
func (p *storedProvider) Authenticate(context.Context) (getproviders.Authentication, error) {
	var auth getproviders.Authentication
	if slices.Contains(p.locked, p.Archive()) {
		auth.Hashes = []hashing.Hash{p.Archive()}
		auth.Own = auth.Hashes
	}
	return auth, nil
}

// Download implements [getproviders.Package].
func (p *storedProvider) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	err := p.store.ProviderBlob(ctx, p.Provider, p.Layer, p.Size, file, progress)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("its archive in %s cannot be used: %w", p.store.Name(), err)
	}
	return err
}

// offers returns what stores have of providers; nil if there are no stores.
func (s *session) offers(stores []storeID, offline bool) providers.Offers {
	if len(stores) == 0 {
		return nil
	}
	return func(ctx context.Context, want providers.Want) iter.Seq[providers.Offer] {
		return func(yield func(providers.Offer) bool) {
			for _, i := range stores {
				if offline && !s.stored.store(i).IsLocal() || s.stored.hasFailed(i) {
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

// offer returns what a store has of a provider's package; the zero value if it has nothing
// and that is no failure.
func (s *session) offer(ctx context.Context, at storeID, want providers.Want) providers.Offer {
	store := s.stored.store(at)
	found, err := providerOf(ctx, store, modpkg.Release{Provider: want.Provider, Version: want.Version}, want.Platform)
	_, isMissing := errors.AsType[*MissingPlatformError](err)
	switch {
	case err == nil && !found.IsIn(want.Locked):
		mismatch := &getproviders.MismatchError{Location: store.Name(), Got: fmt.Sprint(found.Hashes), Locked: true}
		for _, h := range want.Locked {
			mismatch.Want = append(mismatch.Want, string(h))
		}
		return providers.Offer{Err: mismatch}
	case err == nil:
		found.locked = want.Locked
		return providers.Offer{Package: found, Distrust: found.distrust}
	case ctx.Err() != nil, errors.Is(err, fs.ErrNotExist), isMissing && !store.IsLocal():
		return providers.Offer{}
	case isMissing:
		return providers.Offer{Err: err}
	case isOfArtifact(err):
		return providers.Offer{Err: fmt.Errorf("its package in %s cannot be used: %w", store.Name(), err)}
	case s.stored.fail(at):
		return providers.Offer{Err: fmt.Errorf("%s cannot be used: %w", store.Name(), err)}
	}
	return providers.Offer{}
}

// StoredProvider is what a store has for an entry of a lock and a platform.
type StoredProvider int

// What a store can have.
const (
	// StoredNot means that it has nothing for the platform.
	StoredNot StoredProvider = iota
	// StoredOther means that it has a package of which the lock has no hash.
	StoredOther
	// StoredLocked means that it has the package.
	StoredLocked
)

// StoreHasProvider returns what a store has of a locked provider for a platform. It asks
// for the index and the manifest alone. distrust is why the artifact does not confirm what
// it says. The error is about the store.
func StoreHasProvider(ctx context.Context, store PackageStore, entry lockfile.Provider, platform addrs.Platform) (has StoredProvider, distrust, err error) {
	version, err := versions.Parse(entry.Version)
	if err != nil {
		return StoredNot, nil, err
	}
	found, err := providerOf(ctx, store, modpkg.Release{Provider: entry.Address, Version: version}, platform)
	_, isMissing := errors.AsType[*MissingPlatformError](err)
	switch {
	case isMissing, errors.Is(err, fs.ErrNotExist), isOfArtifact(err):
		return StoredNot, nil, nil
	case err != nil:
		return StoredNot, nil, err
	case !found.IsIn(entry.Hashes):
		return StoredOther, found.distrust, nil
	}
	return StoredLocked, found.distrust, nil
}

// readProviders gets all packages of providers that a store has, by its tags. Those for this
// platform are kept, or the hashes of all computed.
func (in *Installer) readProviders(ctx context.Context, s *session, tags []string, keep bool) ([]StoreEntry, error) {
	store := s.stores[0]
	found := make([][]StoreEntry, len(tags))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
	for i, tag := range tags {
		if !strings.HasPrefix(tag, modpkg.ProviderTag) {
			continue
		}
		group.Go(func() error {
			found[i] = s.readRelease(ctx, store, tag, keep)
			return ctx.Err()
		})
	}
	err := group.Wait()
	entries := slices.Concat(found...)
	slices.SortFunc(entries, func(a, b StoreEntry) int {
		return strings.Compare(a.Source+"\x00"+a.Version+"\x00"+a.Platform.String(), b.Source+"\x00"+b.Version+"\x00"+b.Platform.String())
	})
	return entries, err
}

// readRelease gets the packages of a version for all platforms that a store has.
func (s *session) readRelease(ctx context.Context, store PackageStore, tag string, keep bool) []StoreEntry {
	text, err := store.Manifest(ctx, tag)
	if err != nil {
		return []StoreEntry{{Tag: tag, Err: err}}
	}
	release, err := modpkg.ParseReference(text)
	if err == nil && release.Tag() != tag {
		err = errOtherEntry
	}
	if err != nil {
		return []StoreEntry{{Tag: tag, Err: err}}
	}
	about := StoreEntry{Source: release.Provider.String(), Version: release.Version.String(), Tag: tag}
	var targets []modpkg.Target
	if text, about.Err = store.ProviderIndex(ctx, release.Provider, release.Version); about.Err == nil {
		targets, about.Err = modpkg.ParseIndex(text)
	}
	if about.Err != nil {
		return []StoreEntry{about}
	}
	entries := make([]StoreEntry, len(targets))
	for i, target := range targets {
		entries[i] = about
		entries[i].Platform = target.Platform
		entries[i].Hashes, entries[i].Err = s.readTarget(ctx, store, release, target, keep)
	}
	return entries
}

// readTarget gets the package of a target, and compares it with all that is said of it. It
// returns the hashes of the package.
func (s *session) readTarget(ctx context.Context, store PackageStore, r modpkg.Release, target modpkg.Target, keep bool) ([]hashing.Hash, error) {
	found, err := targetOf(ctx, store, r, target)
	if err != nil {
		return nil, err
	}
	if found.distrust != nil {
		return found.Hashes, found.distrust
	}
	found.locked = found.Hashes
	getter := &providers.Getter{Source: oneProvider{found}, Slots: &s.providerSlots, Store: s.providerStore()}
	want := providers.Want{Provider: r.Provider, Version: r.Version, Platform: target.Platform, Locked: found.Hashes}
	var proof *providers.Proof
	if keep && target.Platform == addrs.CurrentPlatform() {
		var got *providers.Got
		if got, err = getter.Get(ctx, want); err == nil {
			proof = &got.Proof
		}
	} else {
		proof, err = getter.Hashes(ctx, want)
	}
	if err != nil {
		return found.Hashes, err
	}
	for _, h := range found.Hashes {
		if h.Scheme() == "h1" && h != proof.H1 {
			return found.Hashes, &getproviders.MismatchError{Location: store.Name(), Want: []string{string(h)}, Got: string(proof.H1)}
		}
	}
	return found.Hashes, nil
}

// oneProvider is a Source with one package.
type oneProvider struct{ pkg *storedProvider }

// Versions implements [getproviders.Source].
func (p oneProvider) Versions(context.Context, addrs.Provider) (getproviders.Listing, error) {
	return getproviders.Listing{Versions: []getproviders.Version{{Version: p.pkg.Version}}}, nil
}

// Package implements [getproviders.Source].
func (p oneProvider) Package(context.Context, addrs.Provider, versions.Version, addrs.Platform) (getproviders.Package, error) {
	return p.pkg, nil
}
