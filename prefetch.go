package cotter

import (
	"context"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/lockfile"
)

// prefetcher has everything confirmed and fetched that a lock names, as soon as the calls
// of the root module are known. A walk alone reads what a package calls after it was
// fetched, so each level of nesting would cost the time of its own requests.
//
// It is a second caller of the session's memos, and decides nothing: the walk asks for the
// same and waits for the answers, judges them and tells what failed, once. What no call of
// the walk asks for is cancelled at its end. So an entry that the configuration no longer
// calls costs at most a fetch that was begun.
//
// An entry is left to the walk if
//   - it is for a call of the root module, with which the walk begins;
//   - it is below a call of the root module that is gone, or that the lock does not decide;
//   - it is below or for a call that is updated;
//   - a policy refuses it, as far as the lock tells;
//   - no server has to be asked, because it is confirmed or its package vendored, or none
//     may be;
//   - git may ask the user for a password, because the lock has no user names and the configuration may.
//
// The lock has no credentials. A call with credentials in its source is prefetched without
// them, which fails in silence, and fetched by the walk.
type prefetcher struct {
	*resolver
	// roots are the calls of the root module.
	roots map[string]*call
	// stop cancels what start has begun and the walk has not asked for.
	stop func()
}

// newPrefetcher returns a prefetcher that asks with a resolver of its own.
func newPrefetcher(ahead *resolver) *prefetcher {
	return &prefetcher{resolver: ahead, roots: make(map[string]*call), stop: func() {}}
}

// prefetchesPerSlot is how many entries are worked on for each piece of work that is done
// at once. Most of them wait.
const prefetchesPerSlot = 4

// start begins with the entries below the calls of the root module, and returns at once.
func (p *prefetcher) start(ctx context.Context, calls []parsedCall) {
	entries := p.project.lock.Modules()
	if len(entries) == 0 || p.placer.vendored.UsesLocked() || p.project.req.Offline || p.update.All || p.origins.Fetcher.Interactive() {
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
		same := lockentry.Record(entry, caller.isElsewhere()) + entry.Constraints
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

// callerOf returns the module that makes the call of an entry, as far as the lock tells
// what it is. It returns nil for entries that are left to the walk.
func (p *prefetcher) callerOf(entry lockfile.Module) *module {
	path, err := addrs.ParseModule(entry.Key)
	if err != nil || len(path) < 2 || p.update.has(entry.Key) || p.confirmed.IsFormer(entry) {
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
		if !below && locked || p.update.has(key) {
			return nil
		}
		if locked {
			pkg, _ := above.SplitPackage()
			caller.pkg = &placement{key: key, entry: above, local: pkg.Getter() == "file"}
		}
	}
	if !below {
		return nil
	}
	return caller
}

// callOf returns the call that the walk will find for an entry in a module, nil if the
// entry cannot be for one.
func (p *prefetcher) callOf(caller *module, entry lockfile.Module) *call {
	c, err := parseCall(caller, blockOf(entry, p.project.dialect), p.project.dialect)
	if err != nil || c.from.Mismatch(entry) != "" || p.selector.unified.mismatch(c, entry) != "" {
		return nil
	}
	return c
}

// blockOf returns the block for which the lock has an entry. Constraints are in the
// source's address if that has an argument for them, else beside it.
func blockOf(entry lockfile.Module, dialect Dialect) ModuleCall {
	name := entry.Key[strings.LastIndexByte(entry.Key, '.')+1:]
	block := ModuleCall{Name: name, Source: entry.Source, Version: entry.Constraints, HasVersion: entry.Constraints != ""}
	source, err := dialect.parser().ParseModuleSource(entry.Source)
	if remote, ok := source.(addrs.ModuleSourceRemote); ok && err == nil && remote.Package.HasArg("version") {
		block.HasVersion = false
	}
	return block
}

// prefetch asks for what the walk will ask for: the stores first, then the origin.
func (p *prefetcher) prefetch(ctx context.Context, c *call, entry lockfile.Module) {
	confirmed, checksTag := p.confirmed.HasEntry(entry, c.from.FromPackage), p.entries.needsTagCheck(c, entry)
	if confirmed && !checksTag || p.checkAllowed(ctx, c) != nil {
		return
	}
	switch {
	case p.entries.stores.Confirms(ctx, c.from, entry):
		if !p.placer.Cache.Has(entry.Hash("t1")) && !p.isInstalled(entry.Key) {
			p.entries.stores.Fetch(ctx, c.from, entry)
		}
	case confirmed:
		_ = p.entries.checkTag(ctx, c, entry)
	default:
		_, _ = p.entries.askOrigin(ctx, c, entry, false)
	}
}

// isInstalled reports whether something is installed for a call, right or wrong.
func (p *prefetcher) isInstalled(key string) bool {
	return exists(filepath.Join(p.project.req.dataPath(), "modules", key))
}
