package cotter

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/lockfile"
)

// fetchKey is what makes two fetches the same: they are done once.
type fetchKey struct {
	pkg         addrs.ModulePackage
	revision    string
	fromServer  bool
	fromPackage bool
	hosted      bool
	submodules  bool
	// places are the rules about where a fetch may lead.
	places string
	// want is the t1 hash that the lock has for it; "" where that has none.
	want hashing.Hash
	// fresh keeps to what the origin sends.
	fresh bool
}

// request asks for the package, wherever it is to go.
func (k fetchKey) request(at location) getmodules.Request {
	req := getmodules.Request{
		Package:     k.pkg,
		Revision:    k.revision,
		FromServer:  k.fromServer,
		FromPackage: k.fromPackage,
		Submodules:  k.submodules,
	}
	if at.from != nil {
		req.Origin = at.from.Origin
	}
	return req
}

// fetched is a package in the cache, hashed from disk.
type fetched struct {
	resolved addrs.ModulePackage
	archive  hashing.Hash // zh:, "" where there is none that counts
	tree     *packageTree
	gitlinks []string
	leftOut  []getmodules.Link
	local    bool
}

// hashes are a package's hashes as the lock has them.
func (f *fetched) hashes() []hashing.Hash {
	hashes := []hashing.Hash{f.tree.H1(), f.tree.T1()}
	if f.archive != "" {
		hashes = append(hashes, f.archive)
	}
	return hashes
}

// fetch fetches a package into the cache, once in a run. want is the t1 hash
// that the lock has for it; "" where it has none.
func (r *run) fetch(ctx context.Context, n *node, at location, revision string, want hashing.Hash) (*fetched, error) {
	key := fetchKey{
		pkg:        at.pkg,
		revision:   revision,
		fromServer: at.from != nil,
		// Whoever asked the server, its answers are held to the same rules.
		fromPackage: at.from == nil && n.untrusted(),
		hosted:      at.from != nil && at.from.Direct,
		submodules:  r.req.Submodules,
		places:      r.rules.key(),
		want:        want,
		fresh:       at.unconfirmed,
	}
	fetch := func(key fetchKey) (*fetched, error) {
		return r.packages.get(key, func() (*fetched, error) { return r.fetchOnce(ctx, n, key, at) })
	}
	var got *fetched
	var err error
	if key.pkg.Getter() == "oci" && key.revision == "" {
		got, err = r.fetchArtifact(ctx, key, at, fetch)
	} else {
		got, err = fetch(key)
	}
	if err != nil {
		return nil, err
	}
	return got, r.rules.allow(got.resolved)
}

// fetchStaged fetches a package on the stage and publishes it.
func (r *run) fetchStaged(ctx context.Context, n *node, key fetchKey, at location) (*fetched, sharedAnswer, error) {
	done, err := r.slot(ctx)
	if err != nil {
		return nil, sharedAnswer{}, err
	}
	defer done()
	staged := r.cache.Stage()
	defer func() { _ = os.RemoveAll(staged) }() // what is left is swept away some day
	return r.fetchInto(ctx, n, key, at, staged)
}

func (r *run) fetchInto(ctx context.Context, n *node, key fetchKey, at location, staged string) (*fetched, sharedAnswer, error) {
	shown := key.pkg.Redacted()
	r.events.emit(FetchStarted{Package: shown})
	asked := time.Now()
	pkg, err := r.download(ctx, n, key, at, staged)
	if err != nil {
		return nil, sharedAnswer{}, err
	}
	for _, warning := range append(pkg.FetchWarnings, pkg.Warnings...) {
		r.warn(n.path, warning)
	}
	pkg.LeftOut = linksBelow(pkg.LeftOut, pkg.Subdir)
	got, err := r.publish(filepath.Join(staged, filepath.FromSlash(pkg.Subdir)), pkg)
	if err != nil {
		return nil, sharedAnswer{}, fmt.Errorf("%s: %w", shown, err)
	}
	r.events.emit(FetchDone{Package: shown, Bytes: pkg.Bytes})
	return got, key.answer(pkg, got.tree.T1(), asked), nil
}

// download brings a package to dir, which does not exist yet.
func (r *run) download(ctx context.Context, n *node, key fetchKey, at location, dir string) (*getmodules.Package, error) {
	if key.hosted {
		return r.fetchHosted(ctx, n, at.from, dir)
	}
	shown := key.pkg.Redacted()
	req := r.prepared(key.request(at))
	req.NoCache = req.NoCache || key.fresh
	req.Dir, req.Allow = dir, r.rules.allow
	req.Progress = func(done, total int64) { r.events.emit(FetchProgress{Package: shown, Done: done, Total: total}) }
	return r.fetcher.Fetch(ctx, req)
}

// publish hashes a fetched tree from disk and puts it into the cache under its
// hash. What an answer's own subdirectory leaves out is not part of the
// package.
func (r *run) publish(dir string, pkg *getmodules.Package) (*fetched, error) {
	tree, err := readTree(dir)
	if err != nil {
		return nil, err
	}
	if err := r.cache.Publish(dir, tree.T1()); err != nil {
		return nil, err
	}
	return newFetched(tree, pkg), nil
}

func newFetched(tree *packageTree, pkg *getmodules.Package) *fetched {
	return &fetched{
		resolved: pkg.Resolved,
		archive:  hashing.Hash(pkg.ArchiveSum),
		tree:     tree,
		gitlinks: pkg.Gitlinks,
		leftOut:  pkg.LeftOut,
		local:    pkg.Resolved.Getter() == "file",
	}
}

// checkHashes compares what was fetched with what the lock says.
func (r *run) checkHashes(entry lockfile.Module, got *fetched) error {
	mismatch := &HashMismatchError{Key: entry.Key, Package: got.resolved.Redacted(), Gitlinks: got.gitlinks}
	for _, want := range entry.Hashes {
		have := hashOf(got.tree, want.Scheme())
		if have != "" && have != want {
			mismatch.Want = append(mismatch.Want, want)
			mismatch.Got = append(mismatch.Got, have)
		}
	}
	if mismatch.Want == nil {
		return nil
	}
	if former := r.installed.lockedTree(entry); former != nil {
		mismatch.Changes = hashing.Diff(former.Tree, got.tree.Tree)
	}
	return mismatch
}

// hashOf is a tree's hash of a scheme; "" for schemes that trees do not have.
func hashOf(tree *packageTree, scheme string) hashing.Hash {
	switch scheme {
	case "h1":
		return tree.H1()
	case "t1":
		return tree.T1()
	}
	return ""
}

// hashOfScheme is the lock's hash of a scheme; "" where it has none.
func hashOfScheme(entry lockfile.Module, scheme string) hashing.Hash {
	for _, h := range entry.Hashes {
		if h.Scheme() == scheme {
			return h
		}
	}
	return ""
}
