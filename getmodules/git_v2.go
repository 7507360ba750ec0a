package getmodules

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/net/hostname"
)

type v2Memo struct {
	mu sync.Mutex
	// left has the remotes, and the origins of servers, that are left to git after a failure.
	left map[string]bool
}

// v2Transport returns the transport for version 2 in this process, or nil if git fetches the repository.
func (g *gitClients) v2Transport(ctx context.Context) (gitwire.Transport, error) {
	f, u := g.fetcher, g.addr.target.URL
	if g.alone {
		return g.aloneTransport()
	}
	if f.v2.isLeft(g.addr.identity()) || f.v2.isLeft(hostname.Origin(u)) {
		return nil, nil
	}
	if u.Scheme == "ssh" {
		return g.sshTransport(ctx)
	}
	requests, _ := f.requestsForV2(ctx, g.addr, g.named)
	if requests == nil {
		return nil, nil
	}
	return &gitwire.HTTP{RoundTripper: &repeats{requests, g}, Repository: u}, nil
}

// aloneTransport is v2Transport without git and the user's configuration.
func (g *gitClients) aloneTransport() (gitwire.Transport, error) {
	f, u := g.fetcher, &g.addr.remote
	if allowed := f.program().Allowed(g.addr.protocols); !slices.Contains(allowed, u.Scheme) {
		return nil, fmt.Errorf("%w: the transport %q is not in your GIT_ALLOW_PROTOCOL", ErrRefusedLocation, u.Scheme)
	}
	if notInProcess(g.addr) != "" {
		return nil, nil
	}
	return &gitwire.HTTP{RoundTripper: &repeats{f.requests(new(gitexec.Settings), g.addr, g.named), g}, Repository: u}, nil
}

// notInProcess returns why a repository cannot be fetched without git.
func notInProcess(a gitAddress) (reason string) {
	switch u := &a.remote; {
	case u.Scheme == "ssh":
		return "ssh sources need git"
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Sprintf("the address is for %q", u.Scheme)
	case u.RawQuery != "":
		return "the address has arguments for the server"
	}
	return ""
}

// sshTransport returns the transport by the user's ssh, or nil.
func (g *gitClients) sshTransport(ctx context.Context) (gitwire.Transport, error) {
	f := g.fetcher
	if f.sshNotUsed(ctx, g.addr) != "" {
		return nil, nil
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
			return f.program().DialSSH(ctx, g.addr.target, keyFile)
		},
		Floor: f.floor(gitIdle),
	}, nil
}

func (f *Fetcher) sshNotUsed(ctx context.Context, a gitAddress) (reason string) {
	if reason := f.onlyGit(a); reason != "" {
		return reason
	}
	return f.program().SSHNotUsed(ctx, a.target)
}

// onlyGit returns why a repository is left to git for every transport, or "".
func (f *Fetcher) onlyGit(a gitAddress) (reason string) {
	switch {
	case f.GitBackend != GitAuto: // GitInstalled
		return fmt.Sprintf("the git backend is set to %q", string(f.GitBackend))
	case a.target.URL.RawQuery != "":
		return "the address has arguments for the server"
	}
	return ""
}

type repeats struct {
	http.RoundTripper
	clients *gitClients
}

func (r *repeats) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, err := r.RoundTripper.RoundTrip(req)
	r.clients.repeated = err != nil || answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests
	return answer, err
}

// requestsForV2 returns what sends the requests of version 2, or why it is not used.
func (f *Fetcher) requestsForV2(ctx context.Context, a gitAddress, named bool) (_ *gitexec.Requests, reason string) {
	u := a.target.URL
	if reason := f.onlyGit(a); reason != "" {
		return nil, reason
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, "the address is for " + u.Scheme
	case a.sshKey != nil:
		return nil, "the address has arguments for the server"
	}
	settings, err := f.program().Settings(ctx, a.target.Remote)
	if err != nil {
		return nil, "the configuration of git cannot be read" // git will say what is wrong
	}
	requests := f.requests(settings, a, named)
	switch err := requests.Open(); {
	case err == nil:
		return requests, ""
	case errors.As(err, new(*gitexec.SettingError)):
		return nil, err.Error()
	}
	return nil, "git has certificates or a proxy of its own"
}

func (f *Fetcher) requests(settings *gitexec.Settings, a gitAddress, named bool) *gitexec.Requests {
	return &gitexec.Requests{
		Git: f.program(), Settings: settings, Repository: a.target.URL, User: a.user,
		Named: named, PlainCredentials: a.allowsPlainCredentials(named),
		Client: f.httpClient(defaultStallTimeout),
	}
}

// GitClient describes which client fetches a git repository.
type GitClient struct {
	// InProcess is set for version 2 in this process, over HTTP or over the user's own ssh. If that fails,
	// git fetches.
	InProcess bool
	SSH       bool
	// Reason says why InProcess is not set.
	Reason string
	// Alone is set if there is no git, or it must not be used. Then what cannot be fetched in process cannot
	// be fetched at all.
	Alone bool
	// URL is where requests go, without credentials. Setting is the user's url.<base>.insteadOf that has replaced the
	// address by it, redacted, or ""; SettingCredentials says that it has credentials, which are sent.
	URL                *url.URL
	Setting            string
	SettingCredentials bool
}

// GitClient returns the client that would fetch the git repository of a package. It sends no request.
func (f *Fetcher) GitClient(ctx context.Context, pkg addrs.ModulePackage) (GitClient, error) {
	addr, err := parseGitAddress(Request{Package: pkg})
	if err != nil {
		return GitClient{}, err
	}
	if f.isAlone() {
		reason := notInProcess(addr)
		return GitClient{InProcess: reason == "", SSH: addr.remote.Scheme == "ssh", Reason: reason, Alone: true, URL: addr.target.URL}, nil
	}
	if err := addr.replace(ctx, Request{}, f.program()); err != nil {
		return GitClient{}, err
	}
	reason, ssh := "", addr.target.URL.Scheme == "ssh"
	if ssh {
		reason = f.sshNotUsed(ctx, addr)
	} else {
		_, reason = f.requestsForV2(ctx, addr, true)
	}
	at := addr.target
	return GitClient{InProcess: reason == "", SSH: ssh, Reason: reason, URL: at.URL, Setting: at.Setting, SettingCredentials: at.User != nil}, nil
}

func (k *v2Memo) failed(a *gitAddress, err error) {
	if errors.Is(err, gitwire.ErrOldProtocol) || errors.Is(err, gitwire.ErrNotSmart) {
		k.leave(hostname.Origin(a.target.URL))
		return
	}
	k.leave(a.identity())
}

func (k *v2Memo) leave(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left == nil {
		k.left = map[string]bool{}
	}
	k.left[key] = true
}

func (k *v2Memo) isLeft(key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.left[key]
}
