package installer

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/internal/store/storefetch"
	"github.com/cotterpin/cotter/ocistore"
)

func verifyStore(ctx context.Context, in *Installer, store PackageStore) ([]ocistore.Entry, error) {
	if err := checkStore(in, store); err != nil {
		return nil, err
	}
	alone := *in
	alone.options.CacheDir = ""
	return readStore(ctx, alone, store, false, func(*pool, artifact.Statement) error { return nil })
}

func importStore(ctx context.Context, in *Installer, store PackageStore) ([]ocistore.Entry, error) {
	if err := checkStore(in, store); err != nil {
		return nil, err
	}
	if in.options.CacheDir == "" {
		return nil, errors.New("there is no cache to import into")
	}
	return readStore(ctx, *in, store, true, func(s *pool, statement artifact.Statement) error {
		if s.CacheErr != nil {
			return s.CacheErr
		}
		return confirmImported(s.Cache, statement)
	})
}

func checkStore(in *Installer, store PackageStore) error {
	if err := checkInstaller(in); err != nil || store != nil {
		return err
	}
	return &InvalidOptionsError{Reason: "the store is nil"}
}

func confirmImported(cache *store.Modules, statement artifact.Statement) error {
	var records []string
	for _, text := range lockentry.AllStatements(statement) {
		records = append(records, evidencerules.Record(evidence.Evidence{Kind: evidence.Imported}, text))
	}
	return cache.Confirm(records...)
}

// readStore fetches all packages of a store into the cache, and calls use for each module package that matches
// its entry. keep says whether provider packages are kept.
func readStore(ctx context.Context, in Installer, store PackageStore, keep bool, use func(*pool, artifact.Statement) error) (_ []ocistore.Entry, err error) {
	defer ctxerr.Keep(ctx, &err)
	events := eventsOf(&in, Project{})
	by, err := userOf(&in, events)
	if err != nil {
		return nil, err
	}
	clients := clientsOf(&in)
	clients.Stores, clients.shared = nil, nil
	ctx, s, done, err := clients.pool(ctx, by)
	if err != nil {
		return nil, err
	}
	defer done()
	all, err := storefetch.Tags(ctx, store)
	if err != nil {
		return nil, err
	}
	tags := slices.DeleteFunc(slices.Clone(all), func(tag string) bool { return !strings.HasPrefix(tag, artifact.EntryTag) })
	stored, at := s.storesOf(request{}, events), s.stores.ID(store)
	entries := make([]ocistore.Entry, len(tags))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(cap(s.Slots))
	for i, tag := range tags {
		group.Go(func() error {
			ctx := groupCtx
			found, err := storefetch.ArtifactOf(ctx, store, tag)
			if err == nil {
				err = stored.FetchArtifact(ctx, at, found)
			}
			if err == nil && !store.Info().Trusted {
				err = ocistore.ErrDeliversOnly
			}
			st := found.Statement
			entries[i] = ocistore.Entry{Source: st.Source, Version: st.Version, Package: st.Package, Hashes: st.Hashes, Tag: tag, Err: err}
			if ctx.Err() != nil {
				return ctxerr.Of(ctx)
			}
			if err != nil {
				return nil // the other packages are still read
			}
			return use(s, st)
		})
	}
	err = group.Wait()
	slices.SortFunc(entries, func(a, b ocistore.Entry) int {
		return strings.Compare(a.Source+"\x00"+a.Version+a.Tag, b.Source+"\x00"+b.Version+b.Tag)
	})
	if err != nil {
		return entries, err
	}
	ofProviders, err := readProviders(ctx, s, store, all, keep)
	return append(entries, ofProviders...), err
}

// readProviders reads the provider packages among tags. If keep is set, packages for this platform are kept,
// and of the others the hashes.
func readProviders(ctx context.Context, s *pool, store PackageStore, tags []string, keep bool) ([]ocistore.Entry, error) {
	if keep && s.CacheErr != nil {
		return nil, s.CacheErr
	}
	found := make([][]ocistore.Entry, len(tags))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cap(s.Slots))
	for i, tag := range tags {
		if !strings.HasPrefix(tag, artifact.ProviderTag) {
			continue
		}
		group.Go(func() error {
			for _, p := range storefetch.ReadRelease(ctx, store, tag, s.providers.Getter, keep) {
				entry := ocistore.Entry{Platform: p.Platform, Hashes: p.Hashes, Tag: tag, Err: p.Err}
				if !p.Release.Version.IsZero() {
					entry.Source, entry.Version = p.Release.Provider.String(), p.Release.Version.String()
				}
				found[i] = append(found[i], entry)
			}
			return ctxerr.Of(ctx)
		})
	}
	err := group.Wait()
	entries := slices.Concat(found...)
	slices.SortFunc(entries, func(a, b ocistore.Entry) int {
		return strings.Compare(a.Source+"\x00"+a.Version+"\x00"+a.Platform.String(), b.Source+"\x00"+b.Version+"\x00"+b.Platform.String())
	})
	return entries, err
}
