package mirror

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/artifact"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/stores"
	"github.com/cotterpin/cotter/versions"
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

// Status reports which entries of the locks of some root modules a mirror has. The result is in
// the order of dirs and keys; the providers of a directory come after its modules. Status reads
// only the locks and queries only the mirror. It reads the locks according to req, with the
// directories in dirs. It includes providers if req.Providers is set, for the platforms in
// req.Providers or else for this machine's platform. An error about a lock is a
// *[installer.ProjectError].
func Status(ctx context.Context, m *Mirror, dirs []string, req installer.Request) ([]Entry, error) {
	s := &status{mirror: m}
	for _, dir := range dirs {
		if err := s.add(ctx, dir, req); err != nil {
			return nil, &installer.ProjectError{Dir: dir, Err: err}
		}
	}
	var answers singleflight.Memo[string, Entry]
	entries := make([]Entry, len(s.queries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelRequests)
	for i, q := range s.queries {
		entries[i] = q.entry
		group.Go(func() error {
			found, err := answers.Do(ctx, q.key, q.send)
			e := &entries[i]
			e.Checked, e.Missing, e.Other = err == nil, found.Missing, found.Other
			return err
		})
	}
	return entries, group.Wait()
}

// status collects the queries about the entries of locks.
type status struct {
	mirror  *Mirror
	queries []query
}

// query is a query about an entry. Queries with the same key are sent once.
type query struct {
	entry Entry
	key   string
	// send returns what the mirror has, in the last two fields of an entry.
	send func(context.Context) (Entry, error)
}

// add adds the entries of a project.
func (s *status) add(ctx context.Context, dir string, req installer.Request) (err error) {
	if req.Dir = dir; req.ForDir != nil {
		if req, err = req.ForDir(req); err != nil {
			return err
		}
	}
	lock, err := installer.ReadLock(ctx, req)
	if err != nil {
		return err
	}
	for _, entry := range lock.Modules() {
		statement := artifact.StatementOf(entry)
		tag := statement.Tag()
		e := Entry{Dir: dir, Key: entry.Key, Source: entry.Source, Version: entry.Version, Tag: tag}
		s.queries = append(s.queries, query{e, tag, func(ctx context.Context) (Entry, error) {
			has, err := stores.Has(ctx, s.mirror, statement)
			return Entry{Missing: !has}, err
		}})
	}
	if req.Providers == nil {
		return nil
	}
	locked, err := installer.ReadLockedProviders(ctx, req)
	if err != nil {
		return err
	}
	platforms := req.Providers.Platforms
	if len(platforms) == 0 {
		platforms = []addrs.Platform{addrs.CurrentPlatform()}
	}
	for _, entry := range locked {
		version, err := versions.Parse(entry.Version)
		if err != nil {
			return err
		}
		tag := artifact.Release{Provider: entry.Address, Version: version}.Tag()
		for _, platform := range platforms {
			e := Entry{Dir: dir, Source: entry.Address.String(), Version: entry.Version, Tag: tag, Platform: platform}
			key := fmt.Sprintf("%s %s %q", tag, platform, entry.Hashes)
			s.queries = append(s.queries, query{e, key, func(ctx context.Context) (Entry, error) {
				has, err := stores.HasProvider(ctx, s.mirror, entry, platform)
				return Entry{Missing: has == stores.ProviderMissing, Other: has == stores.ProviderOther}, err
			}})
		}
	}
	return nil
}
