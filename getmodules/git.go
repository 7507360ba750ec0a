package getmodules

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// Git configures how the installed git is run, which never prompts unless Interactive is set.
type Git struct {
	// Path is absolute. "" means the first "git" in the absolute directories of PATH.
	Path string
	// Env is the environment of git, as in [os.Environ]; nil means that of the process.
	Env []string
	// Interactive lets git and ssh ask the user for passwords on the terminal.
	Interactive bool
}

func (f *Fetcher) program() *gitexec.Git {
	f.gitOnce.Do(func() {
		f.gitProgram = &gitexec.Git{Path: f.Git.Path, Absent: f.GitBackend == GitBuiltIn, Env: f.Git.Env, Interactive: f.Git.Interactive, Netrc: f.HTTPCredentials}
		if f.HTTPClient != nil {
			f.gitProgram.HTTP, f.gitProgram.OwnConnections = f.HTTPClient.Transport, f.HTTPClientForGit && f.HTTPClient.Transport != nil
		}
	})
	return f.gitProgram
}

type gitFetch struct {
	*gitClients
	pkg   Package
	links []git.Entry // to submodules
}

// fetchGit fetches the tree of one commit into req.Dir, without history, hooks, filters or submodules. It returns
// the links to submodules.
func (f *Fetcher) fetchGit(ctx context.Context, req Request) (_ *Package, _ []git.Entry, err error) {
	addr, err := parseGitAddress(req)
	if err != nil {
		return nil, nil, err
	}
	if req.Revision != "" && !git.IsObjectID(req.Revision) {
		return nil, nil, errRevisionForm
	}
	// Git obeys what is here, and the parent may be in a project.
	scratch, err := pathsafe.MkdirTemp(".git-fetch-", filepath.Dir(req.Dir))
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	clients, err := f.gitClients(ctx, req, addr, scratch)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, clients.close()) }()
	g := &gitFetch{gitClients: clients}
	if err := g.fetch(g.addr.limited(ctx), git.Want{ID: req.Revision, Ref: addr.ref}); err != nil {
		return nil, nil, g.addr.explain(err)
	}
	return &g.pkg, g.links, nil
}

// fetch gets the commit from the cheapest source that has it: the cache, version 2 in this process, or git.
func (g *gitFetch) fetch(ctx context.Context, want git.Want) error {
	write := func(fetched git.Fetched) error {
		if err := g.req.begin(ctx); err != nil {
			return err
		}
		return g.write(ctx, fetched)
	}
	if id := want.Known(); id != "" && !g.alone {
		if found, err := g.system().Stored(ctx, id, write); found {
			return err
		}
	}
	if g.v2 != nil {
		err := g.v2.Fetch(ctx, want, write)
		if g.alone {
			err = g.refNotFound(ctx, g.v2, want.Ref, err)
		}
		if done, err := g.v2Done(ctx, err); done {
			g.pkg.Bytes = g.v2.Received()
			g.pkg.FetchWarnings = g.warnings(ctx)
			return err
		}
	}
	if err := g.req.begin(ctx); err != nil {
		return err
	}
	err := g.withRepository(func(repo git.Repository) error {
		err := repo.Fetch(ctx, want, func(fetched git.Fetched) error { return g.write(ctx, fetched) })
		g.pkg.Bytes = repo.Received()
		return g.refNotFound(ctx, repo, want.Ref, err)
	})
	if err != nil {
		return g.explain(err)
	}
	g.pkg.FetchWarnings = g.warnings(ctx)
	return nil
}

// isVerdict reports whether an error is about the package itself, so that another client would return it
// too.
func isVerdict(err error) bool {
	_, unsafe := errors.AsType[*treewriter.PathError](err)
	_, full := errors.AsType[*packagelimits.SpaceError](err)
	return unsafe || full || isOverLimit(err) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrEmpty)
}

// isSSHVerdict reports whether git, which runs the same ssh, would fail in the same way.
func isSSHVerdict(err error) bool {
	_, failed := errors.AsType[*gitexec.Error](err)
	return failed && (errors.Is(err, ErrAuthentication) || errors.Is(err, ErrHostUntrusted) ||
		errors.Is(err, ErrHostUnreachable) || errors.Is(err, ErrRepositoryNotFound))
}

// refNotFound returns a *RefNotFoundError for an ErrRefNotFound. Similar names are a hint, so an error of
// listing the refs is ignored.
func (g *gitFetch) refNotFound(ctx context.Context, repo git.Repository, ref string, err error) error {
	if !errors.Is(err, ErrRefNotFound) {
		return err
	}
	notFound := &RefNotFoundError{Repository: g.addr.shownTarget(), Ref: ref, Err: err}
	if ref != "" {
		if refs, failed := repo.Refs(ctx, git.Heads, git.Tags); failed == nil {
			notFound.Near = refs.Near(ref)
		}
	}
	if g.alone && git.IsShortID(ref) {
		return fmt.Errorf("%w; %w", notFound, errAlone(""))
	}
	return notFound
}

// gitRefs lists refs, by version 2 in this process if possible. If the result is not enough, the server may
// not have understood the request, and git lists them.
func (f *Fetcher) gitRefs(ctx context.Context, req Request, addr gitAddress, enough func(git.Refs) bool, names ...string) (git.Refs, error) {
	if getter, own := f.replaced("git"); own {
		return f.callersRefs(ctx, req, getter)
	}
	var refs git.Refs
	err := f.withGit(ctx, req, addr, func(ctx context.Context, g *gitClients) error {
		if g.v2 != nil {
			listed, err := g.v2.Refs(ctx, names...)
			if err != nil || g.alone || enough(listed) {
				refs = listed
				if done, err := g.v2Done(ctx, err); done {
					return err
				}
			}
		}
		return g.withRepository(func(repo git.Repository) (err error) {
			refs, err = repo.Refs(ctx, names...)
			return err
		})
	})
	return refs, err
}

// expandGit returns the only commit whose name begins with short, or "". Several are a git.ErrAmbiguous.
func (f *Fetcher) expandGit(ctx context.Context, req Request, addr gitAddress, short string) (id string, err error) {
	err = f.withGit(ctx, req, addr, func(ctx context.Context, g *gitClients) error {
		return g.withRepository(func(repo git.Repository) (err error) {
			id, err = repo.Expand(ctx, short)
			return err
		})
	})
	return id, err
}

// withGit calls use with the clients for a request that fetches no package.
func (f *Fetcher) withGit(ctx context.Context, req Request, addr gitAddress, use func(context.Context, *gitClients) error) (err error) {
	scratch, err := pathsafe.MkdirTemp(".git-tags-", req.Scratch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	g, err := f.gitClients(ctx, req, addr, scratch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	if err := use(g.addr.limited(ctx), g); err != nil {
		return g.addr.explain(g.explain(err))
	}
	return nil
}

// warnAlone warns once about settings that only git reads, because they concern all packages.
func (f *Fetcher) warnAlone() []string {
	if !f.warnedAlone.CompareAndSwap(false, true) {
		return nil
	}
	why := "git is not installed"
	if f.GitBackend == GitBuiltIn {
		why = "git is not used"
	}
	return []string{why + ", so your git configuration is not read (credential helpers, url.insteadOf, http.extraHeader)"}
}

// warnCache warns once about a CacheDir that cannot be written.
func (f *Fetcher) warnCache(reason string) []string {
	if !f.warnedCache.CompareAndSwap(false, true) {
		return nil
	}
	return []string{fmt.Sprintf("the cache %s cannot be written (%s); nothing is kept", f.CacheDir, reason)}
}
