package installer

import (
	"context"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/project/treewalk"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/lockfile"
)

// prefetcher confirms and fetches everything that a lock names, as soon as the calls of the root module are
// known. Without it, the walk would have to fetch a package before it could read the calls in it, so each level
// of nesting would add the time of its own requests.
//
// It calls the pool's memos in addition to the walk, and decides nothing. The walk requests the same things,
// waits for the results, checks them, and reports failures once. At its end, prefetches that it did not request
// are canceled.
//
// These entries are left to the walk: those of the root module's calls, those below a call that is gone,
// updated or without a usable entry, those that a policy refuses or that need no request, and all if git may
// ask the user for a password, because the lock has no user names but the configuration may. It has no
// credentials either: such a prefetch fails silently.
type prefetcher struct {
	*resolver
	roots map[string]*call
	// stop cancels the prefetches that the walk did not request, and waits for all of them.
	stop func()
}

func newPrefetcher(ahead *resolver) *prefetcher {
	return &prefetcher{resolver: ahead, roots: make(map[string]*call), stop: func() {}}
}

// prefetchesPerSlot is the number of entries at once for each slot of parallel work. Most of them wait.
const prefetchesPerSlot = 4

// start begins to prefetch the entries below the calls of the root module, and returns at once.
func (p *prefetcher) start(ctx context.Context, calls []treewalk.ParsedCall) {
	entries := p.project.Lock.Modules()
	if len(entries) == 0 || p.project.req.Offline || p.project.req.Update.All || p.origins.Fetcher.Interactive() {
		return
	}
	for _, c := range calls {
		if c.Err == nil {
			p.roots[c.Key()] = c.Call
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
	type sameAnswer struct {
		statement   lockentry.Statement
		constraints string
	}
	seen := make(map[sameAnswer]bool)
	for _, entry := range entries {
		caller := p.callerOf(entry)
		if caller == nil || ctx.Err() != nil {
			continue
		}
		same := sameAnswer{lockentry.StatementsOf(entry, p.run.addresses.unseen(entry, caller.IsElsewhere())).Package, entry.Constraints.String()}
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

// callerOf returns the module that makes the call of an entry, as far as the lock describes it; nil for entries
// that are left to the walk.
func (p *prefetcher) callerOf(entry lockfile.Module) *module {
	path, err := addrs.ParseModule(entry.Key)
	if err != nil || p.roots[entry.Key] != nil || p.project.req.Update.has(entry.Key) || p.run.isFormer(entry) {
		return nil
	}
	caller := &module{Call: &call{Path: path[:len(path)-1]}}
	below := false
	for i := 1; i < len(path); i++ {
		key := path[:i].String()
		above, locked := p.project.Lock.Module(key)
		if root := p.roots[key]; root != nil {
			below = root.From.IsLocal() || locked && root.From.Mismatch(above) == ""
		}
		if !below && locked || p.project.req.Update.has(key) {
			return nil
		}
		if locked {
			caller.Package = &treewalk.Package{Key: key, Entry: above, Local: above.Package.Package.Getter() == "file"}
		}
	}
	if !below {
		return nil
	}
	return caller
}

// callOf returns the call that the walk will find for an entry in a module, or nil if it cannot belong to one.
// Calls whose source is replaced are left to the walk: the lock does not decide what the project replaces. So are
// those of which the lock does not show the whole address.
func (p *prefetcher) callOf(caller *module, entry lockfile.Module) *call {
	if entry.Replaces != nil || p.run.addresses.mark(entry.Key) != "" {
		return nil
	}
	c, err := p.project.ParseCall(caller, treewalk.BlockOf(entry))
	if err != nil || c.From.Mismatch(entry) != "" || p.selector.unified.mismatch(c, entry) != "" {
		return nil
	}
	return c
}

func (p *prefetcher) prefetch(ctx context.Context, c *call, entry lockfile.Module) {
	found, isInstalled := p.run.lockedCall(c, entry, event.SelectionLocked), p.isInstalled(entry.Key)
	if p.locator.needsRequests(found, isInstalled) && p.checkAllowed(ctx, c) == nil {
		p.locator.prefetch(ctx, found, isInstalled)
	}
}

// isInstalled reports whether any package is installed for a call, right or wrong.
func (p *prefetcher) isInstalled(key string) bool {
	return exists(filepath.Join(p.project.req.modulesPath(), key))
}
