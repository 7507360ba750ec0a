package installer

import (
	"context"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/lockfile"
)

// prefetcher confirms and fetches everything that a lock names, as soon as the calls of the
// root module are known. Without it, the walk would have to fetch a package before it could
// read the calls in it, so each level of nesting would add the time of its own requests.
//
// The prefetcher calls the pool's memos in addition to the walk, and decides nothing.
// The walk requests the same things, waits for the results, checks them, and reports
// failures once. At the end of the walk, prefetches that the walk did not request are
// canceled. So an entry that the configuration no longer calls costs at most a fetch that
// had begun.
//
// An entry is left to the walk if
//
//   - it belongs to a call of the root module, where the walk begins;
//   - it is below a call of the root module that no longer exists, or that has no usable
//     lock entry;
//   - it belongs to a call that is updated, or is below one;
//   - a policy refuses it, judging by the lock;
//   - no request is needed because the entry is confirmed or its package vendored, or
//     offline mode is set;
//   - git may ask the user for a password, because the lock has no user names but the
//     configuration may.
//
// The lock has no credentials. A call with credentials in its source is prefetched without
// them. That fails silently, and the walk fetches the package.
type prefetcher struct {
	*resolver
	// roots has the calls of the root module by key.
	roots map[string]*call
	// stop cancels the prefetches that the walk did not request, and waits for the end of
	// all of them.
	stop func()
}

func newPrefetcher(ahead *resolver) *prefetcher {
	return &prefetcher{resolver: ahead, roots: make(map[string]*call), stop: func() {}}
}

// prefetchesPerSlot is the number of entries that are prefetched at once for each slot of
// parallel work. Most of them wait.
const prefetchesPerSlot = 4

// start begins to prefetch the entries below the calls of the root module, and returns at
// once.
func (p *prefetcher) start(ctx context.Context, calls []parsedCall) {
	entries := p.project.lock.Modules()
	if len(entries) == 0 || p.stager.vendored != nil || p.project.req.Offline || p.project.req.Update.All || p.origins.Fetcher.Interactive() {
		return
	}
	for _, c := range calls {
		if c.err == nil {
			p.roots[c.key()] = c.call
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.prefetchAll(ctx, entries)
	}()
	p.stop = func() {
		cancel()
		<-done
	}
}

func (p *prefetcher) prefetchAll(ctx context.Context, entries []lockfile.Module) {
	var group errgroup.Group
	group.SetLimit(prefetchesPerSlot * cap(p.origins.Slots))
	seen := make(map[string]bool)
	for _, entry := range entries {
		caller := p.callerOf(entry)
		if caller == nil || ctx.Err() != nil {
			continue
		}
		same := lockentry.StatementsOf(entry, caller.isElsewhere()).Package + entry.Constraints.String()
		if seen[same] {
			continue
		}
		seen[same] = true
		if c := p.callOf(caller, entry); c != nil {
			group.Go(func() error {
				p.prefetch(ctx, c, entry)
				return nil
			})
		}
	}
	_ = group.Wait()
}

// callerOf returns the module that makes the call of an entry, as far as the lock describes
// the module. It returns nil for entries that are left to the walk.
func (p *prefetcher) callerOf(entry lockfile.Module) *module {
	path, err := addrs.ParseModule(entry.Key)
	if err != nil || len(path) < 2 || p.project.req.Update.has(entry.Key) || p.run.isFormer(entry, true) {
		return nil
	}
	caller := &module{call: &call{path: path[:len(path)-1]}}
	below := false
	for i := 1; i < len(path); i++ {
		key := path[:i].String()
		above, locked := p.project.lock.Module(key)
		if root := p.roots[key]; root != nil {
			below = root.from.IsLocal() || locked && root.from.Mismatch(above) == ""
		}
		if !below && locked || p.project.req.Update.has(key) {
			return nil
		}
		if locked {
			caller.pkg = &placement{key: key, entry: above, local: above.Package.Package.Getter() == "file"}
		}
	}
	if !below {
		return nil
	}
	return caller
}

// callOf returns the call that the walk will find for an entry in a module, or nil if the
// entry cannot belong to such a call. Calls whose source is replaced are left to the walk: the lock does
// not decide what the project replaces.
func (p *prefetcher) callOf(caller *module, entry lockfile.Module) *call {
	if entry.Replaces != nil {
		return nil
	}
	c, err := p.project.parseCall(caller, blockOf(entry))
	if err != nil || c.from.Mismatch(entry) != "" || p.selector.unified.mismatch(c, entry) != "" {
		return nil
	}
	return c
}

// prefetch requests what the walk will request: from the stores first, then from the
// origin.
func (p *prefetcher) prefetch(ctx context.Context, c *call, entry lockfile.Module) {
	found, isInstalled := newLockedCall(c, entry, event.SelectionLocked), p.isInstalled(entry.Key)
	if p.locator.needsRequests(found, isInstalled) && p.checkAllowed(ctx, c) == nil {
		p.locator.prefetch(ctx, found, isInstalled)
	}
}

// isInstalled reports whether any package is installed for a call, right or wrong.
func (p *prefetcher) isInstalled(key string) bool {
	return exists(filepath.Join(p.project.req.modulesPath(), key))
}
