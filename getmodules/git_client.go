package getmodules

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/git/inprocess"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// GitBackend chooses the client for git repositories.
type GitBackend string

const (
	// GitAuto fetches in this process, by version 2 of git's protocol, if the result is certain to be the
	// same as with git. Other repositories, and all failures, are left to the installed git, whose error is
	// reported. Without git in PATH, it is GitBuiltIn.
	//
	// The address must be http, https or ssh, without arguments for the server; no object may have more
	// than [Limits.FileBytes], or 256 MiB if that is more; and git must have no setting that only git can
	// apply ([Fetcher.GitClient] reports it).
	// Applied by git's rules are url.<base>.insteadOf, and the headers, proxies, certificates and user
	// agent of http.<url>.*. Credentials are those in the address, of netrc or of "git credential fill".
	// For ssh, the program that git would run is run, except on Windows, and sessions of a run share its
	// connections. A server that does not accept GIT_PROTOCOL is asked to set it in the command.
	GitAuto GitBackend = ""
	// GitInstalled uses git for everything, and fails if it is not installed.
	GitInstalled GitBackend = "git"
	// GitBuiltIn fetches in this process as if no git were installed, with the same trees and revisions but
	// without CacheDir and the user's git configuration, except for GIT_ALLOW_PROTOCOL. What needs git is
	// an [ErrBuiltInGit]: ssh, git://, repositories on this machine, servers without version 2, abbreviated
	// commits, SHA-256 object names, and larger objects than GitAuto takes.
	GitBuiltIn GitBackend = "go"
)

// gitIdle is the window for the progress of a transfer. A server may have to pack a large repository first.
const gitIdle = 2 * time.Minute

// Limits of fetches by version 2 in this process. Over one of them, git fetches the repository. But over
// [Limits.DownloadBytes], or the total of a pack, the fetch fails.
const (
	// v2Memory is how much of a pack is in memory, for each concurrent fetch. The rest is in a temporary
	// file.
	v2Memory = 8 << 20
	// v2Object bounds an object if [Limits.FileBytes] is less: not every file of a repository is installed.
	v2Object = 256 << 20
	// otherObjects are the objects of a pack besides its entries: the commit and tags.
	otherObjects = git.MaxDepth
	// v2Other is the size of a pack besides its files: directories, the commit, and tags.
	v2Other = 64 << 20
)

// gitClients are the two clients of one repository.
type gitClients struct {
	gitChoice
	fetcher *Fetcher
	req     Request
	scratch string // a private directory
	// v2 is nil if the repository is not fetched in this process.
	v2     *inprocess.V2
	v2Err  error // the error of the fetch by v2, if it failed
	git    *gitexec.Repository
	warned []string
}

func (f *Fetcher) gitClients(ctx context.Context, req Request, addr gitAddress, scratch string) (*gitClients, error) {
	if getter, own := f.replaced("git"); own && getter == nil {
		return nil, errRemoved("git")
	} else if own {
		return nil, errOwnGetter("git", "do this")
	}
	choice, err := f.clientFor(ctx, req, addr)
	if err != nil {
		return nil, err
	}
	g := &gitClients{gitChoice: choice, fetcher: f, req: req, scratch: scratch}
	u := g.addr.target.URL
	if f.GitCredentials != nil && g.addr.user == nil && mayCarryCredentials(req, u) {
		if g.addr.user, err = f.GitCredentials(ctx, &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}); err != nil {
			return nil, fmt.Errorf("credentials for %s: %w", hostname.Origin(u), err)
		}
	}
	if g.reason != "" {
		return g, nil
	}
	transport, err := g.transport()
	if err != nil {
		return nil, err
	}
	tree := f.Limits.tree()
	g.v2 = &inprocess.V2{
		Client:   gitwire.Client{Transport: transport},
		Dir:      scratch,
		MaxBytes: f.Limits.download(),
		Limits: inprocess.PackLimits{
			Objects:     tree.Entries + otherObjects,
			ObjectBytes: max(tree.FileBytes, v2Object),
			TotalBytes:  tree.TreeBytes + v2Other,
			MemoryBytes: v2Memory,
			Disk:        packagelimits.DiskOf(ctx),
		},
		Progress: g.progress(),
	}
	return g, nil
}

// transport returns that of version 2 in this process: requests as git would send them, or sessions of the user's ssh.
func (g *gitClients) transport() (gitwire.Transport, error) {
	if g.requests != nil {
		g.requests.User = g.addr.user
		return &gitwire.HTTP{RoundTripper: g.requests, Repository: g.addr.target.URL}, nil
	}
	keyFile := ""
	if g.addr.sshKey != nil {
		keyFile = filepath.Join(g.scratch, "ssh-key")
		if err := os.WriteFile(keyFile, g.addr.sshKey, 0o600); err != nil {
			return nil, err
		}
	}
	return &gitwire.Session{
		Connect: func(ctx context.Context) (gitwire.Conn, error) {
			return g.fetcher.program().DialSSH(ctx, g.addr.target, keyFile)
		},
		Floor: g.fetcher.floor(gitIdle),
	}, nil
}

func (g *gitClients) progress() func(int64) {
	report := g.req.Progress
	if report == nil {
		return nil
	}
	return func(done int64) { report(done, 0) }
}

// v2Done evaluates a request by version 2. done is true if it succeeded, or if git could not change the
// outcome. Other failures are left to git, which supports more cases.
func (g *gitClients) v2Done(ctx context.Context, err error) (done bool, _ error) {
	switch {
	case err == nil, isVerdict(err):
		return true, err
	case ctx.Err() != nil:
		return true, ctx.Err()
	case isDenied(err):
		return true, httpError(err)
	case isSSHVerdict(err):
		return true, err
	}
	if status, ok := errors.AsType[*gitwire.StatusError](err); ok && httpx.ParseRetryAfter(status.RetryAfter).TooLong() {
		return true, gitStatusError(g.addr.target.URL, status.StatusCode, status.RetryAfter)
	}
	if g.alone {
		return true, g.addr.explainAlone(httpError(err))
	}
	g.v2Err = err
	g.fetcher.servers.failed(&g.addr, err)
	return false, g.close()
}

func (g *gitClients) close() error {
	if g.v2 == nil {
		return nil
	}
	return g.v2.Close()
}

// withRepository lets the installed git do what is not done in this process.
func (g *gitClients) withRepository(use func(git.Repository) error) error {
	if g.alone {
		return errAlone(g.reason)
	}
	repo := g.system()
	return errors.Join(use(repo), repo.Close())
}

func (g *gitClients) system() *gitexec.Repository {
	if g.git != nil {
		return g.git
	}
	f := g.fetcher
	g.git = &gitexec.Repository{
		Git:              f.program(),
		URL:              g.addr.target.URL,
		Home:             g.addr.target.Home,
		Remote:           g.addr.target.Remote,
		Protocols:        g.addr.protocols,
		Direct:           g.addr.direct,
		User:             g.addr.user,
		Named:            g.named,
		PlainCredentials: g.addr.allowsPlainCredentials(g.named),
		SSHKey:           g.addr.sshKey,
		Secrets:          g.addr.secrets,
		Scratch:          g.scratch,
		MaxBytes:         f.Limits.download(),
		Floor:            f.floor(gitIdle),
		Retry:            g.retry(),
		Progress:         g.progress(),
		CacheUnusable:    func(reason string) { g.warned = f.warnCache(reason) },
	}
	if !g.req.NoCache {
		g.git.CacheDir = f.CacheDir
	}
	return g.git
}

// retry sends each request once if this process has repeated it in vain.
func (g *gitClients) retry() httpx.Retry {
	retry := g.fetcher.retry()
	if g.requests != nil && g.requests.InVain() {
		retry.Attempts = 1
	}
	return retry
}

func (g *gitClients) warnings(ctx context.Context) []string {
	if !g.alone {
		return g.warned
	}
	settings, err := g.fetcher.program().Settings(ctx, "")
	if err != nil || settings.For(&g.addr.remote, g.named).OnlyGit != "" {
		return g.fetcher.warnAlone()
	}
	return nil
}
