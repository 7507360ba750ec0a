package mirror

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/versions"
)

// Entry describes what a mirror has for one entry of a lock.
type Entry struct {
	// Dir is the directory of the root module, and Key is the key of its entry. Key is "" for a
	// provider.
	Dir, Key string
	// Source, Version and Tag have the same meaning as in [cotter.StoreEntry].
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
	// Distrust is the reason why the artifact does not confirm the entry according to the mirror's
	// Trust, for example a missing signature. It is nil if the mirror can confirm nothing in any
	// case.
	Distrust error
}

// OK reports whether the mirror has the entry in the required form. It is false if that was not
// checked.
func (e Entry) OK() bool { return e.Checked && !e.Missing && !e.Other && e.Distrust == nil }

// parallelRequests is the number of concurrent requests of Status.
const parallelRequests = 16

// Status reports which entries of the locks of some root modules a mirror has. The result is in
// the order of dirs and keys; the providers of a directory come after its modules. Status reads
// only the locks and queries only the mirror. It reads the locks according to req, with the
// directories in dirs. It includes providers if req.Providers is set, for the platforms in
// req.Providers or else for this machine's platform. An error about a lock is a
// *[cotter.ProjectError].
func Status(ctx context.Context, m *Mirror, dirs []string, req cotter.Request) ([]Entry, error) {
	s := &status{mirror: m}
	for _, dir := range dirs {
		if err := s.add(dir, req); err != nil {
			return nil, &cotter.ProjectError{Dir: dir, Err: err}
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelRequests)
	for i, ask := range s.asks {
		group.Go(func() error {
			found, err := s.asked.Do(ctx, s.keys[i], ask)
			e := &s.entries[i]
			e.Checked, e.Missing, e.Other, e.Distrust = err == nil, found.Missing, found.Other, found.Distrust
			return err
		})
	}
	return s.entries, group.Wait()
}

// status collects the entries of locks and the queries about them. Queries with the same key are
// made once.
type status struct {
	mirror  *Mirror
	entries []Entry
	keys    []string
	asks    []func(context.Context) (Entry, error)
	asked   singleflight.Memo[string, Entry]
}

// add adds the entries of a project.
func (s *status) add(dir string, req cotter.Request) (err error) {
	if req.Dir = dir; req.ForDir != nil {
		if req, err = req.ForDir(req); err != nil {
			return err
		}
	}
	lock, err := cotter.ReadLock(req)
	if err != nil {
		return err
	}
	for _, entry := range lock.Modules() {
		tag := modpkg.StatementOf(entry).Tag()
		s.ask(Entry{Dir: dir, Key: entry.Key, Source: entry.Source, Version: entry.Version, Tag: tag}, tag, func(ctx context.Context) (Entry, error) {
			has, distrust, err := cotter.StoreHas(ctx, s.mirror, entry)
			return Entry{Missing: !has, Distrust: defect(distrust)}, err
		})
	}
	if req.Providers == nil {
		return nil
	}
	locked, err := cotter.ReadLockedProviders(req)
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
		tag := modpkg.Release{Provider: entry.Address, Version: version}.Tag()
		for _, platform := range platforms {
			e := Entry{Dir: dir, Source: entry.Address.String(), Version: entry.Version, Tag: tag, Platform: platform}
			s.ask(e, fmt.Sprintf("%s %s %q", tag, platform, entry.Hashes), func(ctx context.Context) (Entry, error) {
				has, distrust, err := cotter.StoreHasProvider(ctx, s.mirror, entry, platform)
				return Entry{Missing: has == cotter.StoredNot, Other: has == cotter.StoredOther, Distrust: defect(distrust)}, err
			})
		}
	}
	return nil
}

func (s *status) ask(e Entry, key string, ask func(context.Context) (Entry, error)) {
	s.entries, s.keys, s.asks = append(s.entries, e), append(s.keys, key), append(s.asks, ask)
}

// defect returns the reason why an artifact does not confirm its entry. It returns nil if the
// mirror can confirm nothing in any case.
func defect(distrust error) error {
	if errors.Is(distrust, cotter.ErrDeliversOnly) {
		return nil
	}
	return distrust
}
