package getmodules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/git/inprocess"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// GitBackend says whether the installed git is used.
type GitBackend string

const (
	// GitAuto runs git only for repositories that need it. Without git in PATH, it is GitBuiltIn.
	GitAuto GitBackend = ""
	// GitInstalled uses the installed git for everything, like [Fetcher].AlwaysGit, and fails
	// if there is none.
	GitInstalled GitBackend = "git"
	// GitBuiltIn fetches in this process as if no git were installed: by https and ssh, without the
	// user's git configuration; see the package comment.
	GitBuiltIn GitBackend = "go"
)

// gitIdle is the window for the progress of a transfer from a git server. It is long because
// the server may have to pack a large repository first.
const gitIdle = 2 * time.Minute

// Limits of fetches by protocol version 2 in this process. If a repository exceeds one of them,
// git fetches it instead. Limits.DownloadBytes is different, because the user sets it:
// exceeding it is an error.
const (
	// v2Memory is how much of the content of a pack is kept in memory, for each concurrent
	// fetch. The rest is in a temporary file.
	v2Memory = 8 << 20
	// v2Object bounds the size of one object. Several objects are in memory while a delta is
	// applied.
	v2Object = 16 << 20
	// v2Other is the size that a pack may have in addition to its files, for directories, the
	// commit, and tags that point to it.
	v2Other = 64 << 20
	// aloneObject is v2Object on a machine without git, which cannot fetch larger objects instead.
	aloneObject = 256 << 20
)

type gitClients struct {
	fetcher *Fetcher
	req     Request
	addr    gitAddress
	scratch string // a private directory
	// v2 is nil if the repository is not fetched by version 2 of the protocol.
	v2 *inprocess.V2
	// alone is set if there is no git, or if it must not be used.
	alone bool

	// named is set if the root module or the user names the host; see [gitexec.Settings.For].
	named bool
	v2Err error // the error of the fetch by v2, if it failed
	// repeated is set if v2 has sent a request in vain as often as is allowed.
	repeated bool
	git      *gitexec.Repository
	warned   []string
}

// gitClients determines which clients may fetch a repository.
func (f *Fetcher) gitClients(ctx context.Context, req Request, addr gitAddress, scratch string) (*gitClients, error) {
	if getter, own := f.replaced("git"); own && getter == nil {
		return nil, errRemoved("git")
	} else if own {
		return nil, errOwnGetter("git", "do this")
	}
	alone := f.isAlone()
	if !alone {
		if err := addr.replace(ctx, req, f.program()); err != nil {
			return nil, err
		}
	}
	u := addr.target.URL
	if f.GitCredentials != nil && addr.user == nil && mayCarryCredentials(req, u) {
		var err error
		if addr.user, err = f.GitCredentials(ctx, &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}); err != nil {
			return nil, fmt.Errorf("credentials for %s: %w", httpx.Origin(u), err)
		}
	}
	g := &gitClients{fetcher: f, req: req, addr: addr, scratch: scratch, alone: alone, named: addr.isByUser(ctx, req)}
	transport, err := g.v2Transport(ctx)
	if err != nil {
		return nil, err
	}
	objectBytes := int64(v2Object)
	if alone {
		objectBytes = max(f.Limits.FileBytes, aloneObject)
	}
	if transport != nil {
		g.v2 = &inprocess.V2{
			Client:   gitwire.Client{Transport: transport},
			Dir:      scratch,
			MaxBytes: f.Limits.download(),
			Limits: inprocess.PackLimits{
				Objects:     cmp.Or(f.Limits.Entries, treewriter.DefaultEntries) + git.MaxDepth,
				ObjectBytes: objectBytes,
				TotalBytes:  cmp.Or(f.Limits.TreeBytes, treewriter.DefaultTreeBytes) + v2Other,
				MemoryBytes: v2Memory,
			},
			Progress: g.progress(),
		}
	}
	return g, nil
}

// isAlone reports whether everything is fetched in this process, because there is no git or because it
// must not be used.
func (f *Fetcher) isAlone() bool {
	return f.GitBackend == GitBuiltIn || f.GitBackend == GitAuto && !f.AlwaysGit && !f.program().Installed()
}

func (g *gitClients) progress() func(int64) {
	report := g.req.Progress
	if report == nil {
		return nil
	}
	return func(done int64) { report(done, 0) }
}

// v2Done evaluates the outcome of a request by version 2 of the protocol. done is true if the
// request succeeded, or if git could not change the outcome. Any other failure is remembered
// and left to git, which supports more cases and has its own error messages.
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
		// Git would query the server again at once.
		return true, &StatusError{
			URL: g.addr.remote.Redacted(), StatusCode: status.StatusCode, retryAfter: httpx.ParseRetryAfter(status.RetryAfter),
		}
	}
	if g.alone {
		return true, explainAlone(g.addr.remote.Redacted(), httpError(err))
	}
	g.v2Err = err
	g.fetcher.v2.failed(&g.addr, err)
	return false, g.close()
}

// close ends the conversation by version 2 of the protocol.
func (g *gitClients) close() error {
	if g.v2 == nil {
		return nil
	}
	return g.v2.Close()
}

// open returns the client for everything that version 2 of the protocol is not used for.
func (g *gitClients) open() (git.Repository, error) {
	if g.alone {
		return nil, errAlone(notInProcess(g.addr))
	}
	return g.system(), nil
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
		Replaced:         g.addr.target.Setting != "",
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

// retry determines how often the client that is used after v2 repeats a request. It sends each
// request once if v2 has repeated it in vain.
func (g *gitClients) retry() httpx.Retry {
	retry := g.fetcher.retry()
	if g.repeated {
		retry.Attempts = 1
	}
	return retry
}

func (g *gitClients) warnings(ctx context.Context) []string {
	if !g.alone {
		return g.warned
	}
	settings, err := g.fetcher.program().Settings(ctx)
	if u := &g.addr.remote; u.Scheme == "ssh" || err != nil || settings.For(u, g.named).OnlyGit != "" {
		return g.fetcher.warnAlone()
	}
	return nil
}
