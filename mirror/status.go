package mirror

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/artifact"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/stores"
)

// Entry describes what a mirror has for one entry of a lock.
type Entry struct {
	// Dir is the directory of the root module, and Key is the key of its entry. Key is "" for a
	// provider.
	Dir, Key string
	// Source, Version and Tag have the same meaning as in [ocistore.Entry].
	Source, Version, Tag string
	// Platform is the platform of a provider's package. It is zero for modules.
	Platform addrs.Platform
	// Checked reports that the mirror was asked for the entry and has answered.
	Checked bool
	// Missing reports that the mirror does not have the entry.
	Missing bool
	// Other reports that the mirror has a package of the provider, but the lock has none of its
	// hashes.
	Other bool
}

// OK reports whether the mirror has the entry in the required form. It is false if that was not
// checked.
func (e Entry) OK() bool { return e.Checked && !e.Missing && !e.Other }

// parallelRequests is the number of concurrent requests of Status.
const parallelRequests = 16

// Status reports which entries of the locks of some projects a mirror has. The result is in
// the order of projects and keys; the providers of a project come after its modules. Status reads
// only the locks and queries only the mirror. scope says whether it reports modules, providers or both;
// platforms are those of the providers, none means this machine's platform. An error about a lock is a
// *[installer.ProjectError].
func Status(ctx context.Context, m *Mirror, projects []installer.Project, scope installer.Scope, platforms ...addrs.Platform) ([]Entry, error) {
	s := &status{mirror: m, scope: scope, platforms: platforms}
	if len(platforms) == 0 {
		s.platforms = []addrs.Platform{addrs.CurrentPlatform()}
	}
	for _, p := range projects {
		if err := s.add(ctx, p); err != nil {
			return nil, &installer.ProjectError{Dir: p.Dir, Err: err}
		}
	}
	var answers singleflight.Memo[string, stores.Presence]
	entries := make([]Entry, len(s.queries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelRequests)
	for i, q := range s.queries {
		entries[i] = q.entry
		group.Go(func() error {
			found, err := answers.Do(ctx, q.key, q.send)
			if err != nil {
				return err
			}
			e := &entries[i]
			e.Checked, e.Missing, e.Other = true, found == stores.Missing, found == stores.Other
			return nil
		})
	}
	return entries, group.Wait()
}

// status collects the queries about the entries of locks.
type status struct {
	mirror    *Mirror
	scope     installer.Scope
	platforms []addrs.Platform
	queries   []query
}

// query is a query about an entry. Queries with the same key are sent once.
type query struct {
	entry Entry
	key   string
	send  func(context.Context) (stores.Presence, error)
}

func (s *status) add(ctx context.Context, p installer.Project) error {
	if s.scope != installer.ScopeProviders {
		if err := s.addModules(ctx, p); err != nil {
			return err
		}
	}
	if s.scope == installer.ScopeModules {
		return nil
	}
	return s.addProviders(ctx, p)
}

func (s *status) addModules(ctx context.Context, p installer.Project) error {
	lock, err := installer.ReadLock(ctx, p)
	if err != nil {
		return err
	}
	for _, entry := range lock.Modules() {
		statement := artifact.StatementOf(entry)
		tag := statement.Tag()
		e := Entry{Dir: p.Dir, Key: entry.Key, Source: statement.Source, Version: entry.Version.String(), Tag: tag}
		s.queries = append(s.queries, query{e, tag, func(ctx context.Context) (stores.Presence, error) {
			return stores.Has(ctx, s.mirror, statement)
		}})
	}
	return nil
}

// addProviders adds the entries of providers, for each platform.
func (s *status) addProviders(ctx context.Context, p installer.Project) error {
	locked, err := installer.ReadLockedProviders(ctx, p)
	if err != nil {
		return err
	}
	for _, entry := range locked {
		tag := artifact.ReleaseOf(entry).Tag()
		for _, platform := range s.platforms {
			e := Entry{Dir: p.Dir, Source: entry.Address.String(), Version: entry.Version.String(), Tag: tag, Platform: platform}
			s.queries = append(s.queries, query{e, artifact.ProviderKey(entry, platform), func(ctx context.Context) (stores.Presence, error) {
				return stores.HasProvider(ctx, s.mirror, entry, platform)
			}})
		}
	}
	return nil
}
