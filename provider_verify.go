package cotter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// ProviderReport is how one installed provider compares with the lock.
type ProviderReport struct {
	Provider addrs.Provider
	Version  string
	// Status is StatusVerified, StatusChanged or StatusMissing.
	Status Status
	// Want are the hashes that the lock has, Got is the h1 hash of what is installed.
	Want []hashing.Hash
	Got  hashing.Hash
	// Err is why the installed files could not be compared: because they cannot be
	// read, or because the lock has no hash that says anything about them.
	Err error
}

// intact reports whether the provider is installed and is what the lock says.
func (p *ProviderReport) intact() bool { return p.Status == StatusVerified && p.Err == nil }

// ErrNoComparableHash says that the lock has hashes of a provider's archives alone, and
// that it is not known what is in them.
var ErrNoComparableHash = errors.New("the lock has no h1: hash of it for this platform")

// compareProviders compares the installed providers with the lock. In a project without
// a directory of providers they are not missing: it was installed without them.
func (in *Installer) compareProviders(ctx context.Context, p *openProject, lock *providerLock) ([]ProviderReport, error) {
	entries := lock.Providers()
	if len(entries) == 0 {
		return nil, nil
	}
	store := providerstore.View(in.CacheDir, p.key)
	dir, err := store.ViewDir(filepath.Join(p.req.dataPath(), "providers"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // nothing is written
	reports := make([]ProviderReport, len(entries))
	err = sideBySide(entries, func(i int, entry lockfile.Provider) error {
		reports[i] = compareProvider(store, dir, entry)
		return ctx.Err()
	})
	return reports, err
}

// refusedProviders returns the providers of a lock that the policies do not allow, as
// *ProviderError.
func (p *openProject) refusedProviders(lock *providerLock) []error {
	var refused []error
	for _, entry := range lock.Providers() {
		if err := p.rules.checkProvider(entry.Address); err != nil {
			refused = append(refused, &ProviderError{Provider: entry.Address, Version: entry.Version, Err: err})
		}
	}
	return refused
}

// hasProviders reports whether the project has a directory of providers. One without was
// installed without them.
func (p *openProject) hasProviders() bool {
	return exists(filepath.Join(p.req.dataPath(), "providers"))
}

// compareRequirements adds to a report where the lock does not fit what the modules
// require. An entry that none of them requires is reported if the modules are complete.
func (p *openProject) compareRequirements(ctx context.Context, lock *providerLock, required *requirements, complete bool, report *Report) error {
	pooled, err := required.pool()
	if err != nil {
		report.Unread = append(report.Unread, err)
		complete = false
	}
	others, err := p.unrequired(ctx, lock, pooled, false)
	if err != nil {
		return err
	}
	for _, r := range sortedProviders(pooled, others.inState) {
		entry, has := lock.Provider(r.address)
		locked, err := versions.Parse(entry.Version)
		if !has || err != nil || !r.fits(locked) {
			report.Stale = append(report.Stale, r.fail("", &StaleError{r.lockedReason(entry, has).Reason}))
		}
	}
	for _, address := range others.gone {
		if !complete {
			break // a module that is not there may require it
		}
		report.Stale = append(report.Stale, &ProviderError{Provider: address, Err: &StaleError{"the lock has an entry for it, and no module requires it"}})
	}
	return nil
}

// compareProvider hashes one provider.
func compareProvider(store *providerstore.Store, dir *providerstore.Dir, entry lockfile.Provider) ProviderReport {
	report := ProviderReport{Provider: entry.Address, Version: entry.Version, Want: entry.Hashes, Status: StatusMissing}
	version, err := versions.Parse(entry.Version)
	if err != nil {
		report.Err = err
		return report
	}
	state := dir.Inspect(providerstore.At(entry.Address, version, addrs.CurrentPlatform()), true)
	switch report.Got = state.H1; {
	case errors.Is(state.Err, fs.ErrNotExist):
	case state.Err != nil:
		report.Status, report.Err = StatusChanged, state.Err
	case store.Matches(state.H1, entry.Hashes) != "":
		report.Status = StatusVerified
	default:
		report.Status = StatusChanged
		if !hasScheme(entry.Hashes, "h1") {
			report.Err = ErrNoComparableHash
		}
	}
	return report
}

// OutdatedProvider is a provider and the versions that there are of it.
type OutdatedProvider struct {
	Provider addrs.Provider
	// RequiredBy are the places that require it, and Constraints what they ask for
	// together.
	RequiredBy  []ProviderUse
	Constraints string
	// Current is the locked version, Allowed the newest that all modules allow, Latest
	// the newest stable one. "" stands for none.
	Current, Allowed, Latest string
}

// OutdatedProviders compares the locked versions of the providers with those that their
// sources offer, in the order of the lock. The modules must be installed; nothing is
// changed. A provider whose source gave no answer is a *[ProviderError]; the others are
// returned beside it.
func (in *Installer) OutdatedProviders(ctx context.Context, req Request) (_ []OutdatedProvider, err error) {
	p, err := in.view(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.readRules(); err != nil {
		return nil, err
	}
	required, err := in.requiredProviders(ctx, p)
	if err != nil {
		return nil, err
	}
	if req.Offline {
		return nil, fmt.Errorf("the versions of providers are not known: %w", ErrOffline)
	}
	lock, err := p.providerLock()
	if err != nil {
		return nil, err
	}
	session, done, err := in.sharedSession(p.key)
	if err != nil {
		return nil, err
	}
	defer done()
	asks := &providerSelector{session: session}
	found := make([]OutdatedProvider, len(required))
	err = sideBySide(required, func(i int, r requiredProvider) error {
		entry, _ := lock.Provider(r.address)
		found[i] = OutdatedProvider{Provider: r.address, RequiredBy: r.uses, Constraints: r.want.String(), Current: entry.Version}
		if err := r.checkPolicy(p.rules); err != nil {
			return err
		}
		listing, err := asks.listing(ctx, r.address)
		if err != nil {
			return r.fail("", err)
		}
		found[i].Allowed = newestProvider(listing, r.want)
		found[i].Latest = newestProvider(listing, versions.ProviderConstraints{})
		return nil
	})
	return found, err
}

func newestProvider(listing getproviders.Listing, want versions.ProviderConstraints) string {
	selected, err := versions.SelectProvider(listing.Numbers(), want)
	if err != nil {
		return ""
	}
	return selected.String()
}

// requiredProviders reads what the installed modules require.
func (in *Installer) requiredProviders(ctx context.Context, p *openProject) ([]requiredProvider, error) {
	config, err := in.config(p.req)
	if err != nil {
		return nil, err
	}
	var required requirements
	if _, err := in.installedRequirements(ctx, p, config, &required); err != nil {
		return nil, err
	}
	return required.pool()
}

// LoadProviders reads which providers a configuration needs, and what the lock has of
// them, in the order of the lock: those that the installed modules or a state in the
// project require, and those of the lock that a backend's state may need. It asks no
// server, hashes nothing and changes nothing. Version is "" for a provider that the lock
// does not have.
func (in *Installer) LoadProviders(ctx context.Context, req Request) (_ []Provider, err error) {
	p, err := in.view(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	required, err := in.requiredProviders(ctx, p)
	if err != nil {
		return nil, err
	}
	lock, err := p.providerLock()
	if err != nil {
		return nil, err
	}
	others, err := p.unrequired(ctx, lock, required, false)
	if err != nil {
		return nil, err
	}
	required = sortedProviders(required, others.inState, others.kept)
	var list []Provider
	for _, r := range required {
		entry, _ := lock.Provider(r.address)
		shown := Provider{Address: r.address, RequiredBy: r.uses, Version: entry.Version, Constraints: r.want.String(), Hashes: entry.Hashes}
		if version, err := versions.Parse(entry.Version); err == nil {
			at := filepath.Join("providers", filepath.FromSlash(providerstore.At(r.address, version, addrs.CurrentPlatform())))
			if exists(filepath.Join(req.dataPath(), at)) {
				shown.Dir = filepath.ToSlash(filepath.Join(req.dataDir(), at))
			}
		}
		list = append(list, shown)
	}
	return list, nil
}
