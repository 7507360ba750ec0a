package mirror

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/store/storefetch"
)

// Entry describes what a mirror has for one entry of a lock.
type Entry struct {
	// Dir is the directory of the root module, and Key that of its entry; "" for a provider.
	Dir, Key string
	// Source, Version and Tag are as in [ocistore.Entry].
	Source, Version, Tag string
	// Platform is zero for modules.
	Platform addrs.Platform
	// Checked says that the mirror has answered about the entry.
	Checked bool
	Missing bool
	// Other says that the mirror has a package of the provider, but the lock has none of its hashes.
	Other bool
}

// OK reports whether the mirror was found to have the entry in the required form.
func (e Entry) OK() bool { return e.Checked && !e.Missing && !e.Other }

const parallelRequests = 16

// Status reports which entries of the locks of some projects a mirror has, in the order of projects and
// keys, providers after modules. It reads only the locks and queries only the mirror. platforms are for
// providers; none means this machine's. An error about a lock is a *[installer.ProjectError].
func Status(ctx context.Context, m *Mirror, projects []installer.Project, scope installer.Scope, platforms ...addrs.Platform) ([]Entry, error) {
	if err := m.checkOpen(); err != nil {
		return nil, err
	}
	s := &status{mirror: m, scope: scope, platforms: platforms}
	if len(platforms) == 0 {
		s.platforms = []addrs.Platform{addrs.CurrentPlatform()}
	}
	for _, p := range projects {
		if err := s.add(ctx, p); err != nil {
			return nil, &installer.ProjectError{Dir: p.Dir, Err: err}
		}
	}
	var answers singleflight.Memo[string, storefetch.Presence]
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
			e.Checked, e.Missing, e.Other = true, found == storefetch.Missing, found == storefetch.Other
			return nil
		})
	}
	return entries, group.Wait()
}

type status struct {
	mirror    *Mirror
	scope     installer.Scope
	platforms []addrs.Platform
	queries   []query
}

// Queries with the same key are sent once.
type query struct {
	entry Entry
	key   string
	send  func(context.Context) (storefetch.Presence, error)
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
		statements := artifact.StatementsFor(entry, nil)
		tag := statements[0].Tag()
		e := Entry{Dir: p.Dir, Key: entry.Key, Source: statements[0].Source, Version: entry.Version.String(), Tag: tag}
		s.queries = append(s.queries, query{e, tag, func(ctx context.Context) (has storefetch.Presence, err error) {
			for _, statement := range statements {
				if has, err = storefetch.Has(ctx, s.mirror, statement); err != nil || has != storefetch.Missing {
					break
				}
			}
			return has, err
		}})
	}
	return nil
}

func (s *status) addProviders(ctx context.Context, p installer.Project) error {
	locked, err := installerinternal.ReadLockedProviders(ctx, p)
	if err != nil {
		return err
	}
	for _, entry := range locked {
		tag := artifact.ReleaseOf(entry).Tag()
		for _, platform := range s.platforms {
			e := Entry{Dir: p.Dir, Source: entry.Address.String(), Version: entry.Version.String(), Tag: tag, Platform: platform}
			s.queries = append(s.queries, query{e, artifact.ProviderKey(entry, platform), func(ctx context.Context) (storefetch.Presence, error) {
				return storefetch.HasProvider(ctx, s.mirror, entry, platform)
			}})
		}
	}
	return nil
}
