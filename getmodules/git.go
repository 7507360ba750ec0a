package getmodules

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/minrate"
)

// Git says how the system's git is run. The zero value finds it in PATH,
// passes the process's environment on and never lets it prompt.
type Git = gitexec.Git

// gitFetch is one fetch of one package by git.
type gitFetch struct {
	git     *gitexec.Git
	req     Request
	limits  Limits
	addr    gitAddress
	floor   minrate.Floor
	moved   *url.URL // where redirects led; nil if there were none
	network gitexec.Network
	secrets []string
	// emptyPassword says that git found no password for the user of the address,
	// and is given the empty one.
	emptyPassword bool
	// again runs what may fail for a reason that passes.
	again func(ctx context.Context, run func() error) error
	// warnCache words the warning that the cache cannot be used.
	warnCache func(reason string) []string
	// scratch is a private directory beside the result, so that whoever
	// tidies up there after a crash finds keys and stores of ours too.
	scratch string
	store   gitStore
	wire    *gitWire // nil where git does everything
	wireErr error    // why the fetch without git failed

	chosen chosenRef // the ref that was taken, if one was asked for
	pkg    Package
	links  []gitEntry // to submodules
}

// fetchGit fetches the tree of one commit into req.Dir: exactly one, without
// history, working tree, hooks, filters or submodules.
func (f *Fetcher) fetchGit(ctx context.Context, req Request) (*Package, error) {
	pkg, _, err := f.fetchGitCommit(ctx, req)
	return pkg, err
}

// fetchGitCommit is fetchGit, and returns the links to submodules as well.
func (f *Fetcher) fetchGitCommit(ctx context.Context, req Request) (_ *Package, _ []gitEntry, err error) {
	g := &gitFetch{git: &f.Git, req: req, limits: f.Limits, floor: f.floor(gitIdle), again: f.again, warnCache: f.warnCache}
	if g.addr, err = parseGitAddress(req); err != nil {
		return nil, nil, err
	}
	if req.Revision != "" && !git.IsObjectID(req.Revision) {
		return nil, nil, errRevisionForm
	}
	if g.scratch, err = os.MkdirTemp(filepath.Dir(req.Dir), ".git-fetch-"); err != nil {
		return nil, nil, err
	}
	defer func() {
		if e := os.RemoveAll(g.scratch); e != nil && err == nil {
			err = e
		}
	}()
	if g.scratch, err = filepath.Abs(g.scratch); err != nil {
		return nil, nil, err
	}
	g.wire = f.gitWire(ctx, g.addr)
	if f.builtInGit() {
		if err := f.fetchWithoutGit(ctx, g); err != nil {
			return nil, nil, err
		}
		return &g.pkg, g.links, nil
	}
	if err := g.prepareNetwork(); err != nil {
		return nil, nil, err
	}
	cacheDir := f.CacheDir
	if req.NoCache {
		cacheDir = ""
	}
	g.store = newGitStore(cacheDir, g.scratch, g.addr)
	if err := g.run(ctx); err != nil {
		return nil, nil, g.explain(err)
	}
	return &g.pkg, g.links, nil
}

// run takes the commit from the store if it is there, else fetches it.
func (g *gitFetch) run(ctx context.Context) error {
	if id := g.wanted(); id != "" && g.store.exists() {
		err := g.readStored(ctx, id)
		if !errors.Is(err, errStoreBroken) && cacheTrouble(err) == "" {
			return err // nil too
		}
	}
	if done, err := g.runWire(ctx); done {
		return err
	}
	return g.runWithCache(ctx, g.runGit)
}

// runGit fetches the commit by git. A store that turns out to be broken is built
// anew, once.
func (g *gitFetch) runGit(ctx context.Context) error {
	err := g.fetchAndRead(ctx)
	if errors.Is(err, errStoreBroken) && !g.store.fresh {
		if err := g.store.remove(ctx); err != nil {
			return err
		}
		err = g.fetchAndRead(ctx)
	}
	return err
}

// wanted is the commit to fetch where it is known beforehand, else "".
func (g *gitFetch) wanted() string {
	if g.req.Revision != "" {
		return g.req.Revision
	}
	if git.IsObjectID(g.addr.ref) {
		return g.addr.ref
	}
	return ""
}

func (g *gitFetch) fetchAndRead(ctx context.Context) error {
	id, err := g.fetch(ctx)
	if err != nil {
		return err
	}
	return g.read(ctx, id)
}

// fetch brings the commit into the store and returns its object name, or that
// of a tag which leads to it.
func (g *gitFetch) fetch(ctx context.Context) (id string, err error) {
	unlock, err := g.store.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := g.store.ensure(g.objectFormat()); err != nil {
		return "", err
	}
	before := g.store.packBytes()
	defer func() { g.pkg.Bytes += max(0, g.store.packBytes()-before) }()

	id, err = g.resolve(ctx)
	if gitSays(err, gitOtherFormat) && g.wanted() == "" {
		// Only the server knows which hash its repository uses, and git
		// fetches into one that uses the same.
		if err := g.store.reinit(g.store.otherFormat()); err != nil {
			return "", err
		}
		id, err = g.resolve(ctx)
	}
	if err != nil && !g.store.fresh && !isGitAnswer(err) && cacheTrouble(err) == "" && !g.store.healthy(ctx, g.git) {
		return "", fmt.Errorf("%w: %w", errStoreBroken, err)
	}
	return id, err
}

// objectFormat is the hash that must name the store's objects; "" if it is not
// known beforehand.
func (g *gitFetch) objectFormat() string {
	switch len(g.wanted()) {
	case git.SHA1Len:
		return "sha1"
	case git.SHA256Len:
		return "sha256"
	}
	return ""
}
