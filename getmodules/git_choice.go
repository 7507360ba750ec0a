package getmodules

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/net/hostname"
)

// gitChoice is the way to a repository, chosen once: version 2 of the protocol in this process, unless there is a
// reason against it, and then the installed git, unless alone is set.
type gitChoice struct {
	addr gitAddress
	// named is set if the root module or the user names the host; see [gitexec.Settings.For].
	named bool
	// alone is set if there is no git, or it must not be used.
	alone bool
	// reason says why the repository is not fetched in this process; "" if it is.
	reason string
	// requests are for http and https in this process.
	requests *gitexec.Requests
}

// clientFor chooses by what the address says, who named it, the settings of the user's git, what the caller wants, and
// what the server has shown in this run. It sends no request.
func (f *Fetcher) clientFor(ctx context.Context, req Request, addr gitAddress) (gitChoice, error) {
	c := gitChoice{addr: addr, alone: f.isAlone()}
	if c.alone {
		if allowed := f.program().Allowed(addr.protocols); !slices.Contains(allowed, addr.remote.Scheme) {
			return c, fmt.Errorf("%w: the transport %q is not in your GIT_ALLOW_PROTOCOL", ErrRefusedLocation, addr.remote.Scheme)
		}
	} else if err := c.addr.replace(ctx, req, f.program()); err != nil {
		return c, err
	}
	c.named = c.addr.isByUser(ctx, req)
	switch u := c.addr.target.URL; {
	case f.GitBackend == GitInstalled:
		c.reason = fmt.Sprintf("the git backend is set to %q", string(f.GitBackend))
	case f.servers.isLeft(&c.addr):
		c.reason = "a fetch in this process has failed"
	case u.RawQuery != "":
		c.reason = "the address has arguments for the server"
	case u.Scheme == "https", u.Scheme == "http":
		c.requests, c.reason = f.requestsFor(ctx, c)
	case u.Scheme != "ssh":
		c.reason = fmt.Sprintf("the address is for %q", u.Scheme)
	case c.alone:
		c.reason = "ssh sources need git"
	default:
		c.reason = f.program().SSHNotUsed(ctx, c.addr.target)
	}
	return c, nil
}

// isAlone reports whether everything is fetched in this process.
func (f *Fetcher) isAlone() bool {
	return f.GitBackend == GitBuiltIn || f.GitBackend == GitAuto && !f.program().Installed()
}

// requestsFor returns what sends the requests of version 2 over http, or why only git can.
func (f *Fetcher) requestsFor(ctx context.Context, c gitChoice) (_ *gitexec.Requests, reason string) {
	requests := &gitexec.Requests{
		Git: f.program(), Settings: new(gitexec.Settings), Repository: c.addr.target.URL, User: c.addr.user,
		Named: c.named, PlainCredentials: c.addr.allowsPlainCredentials(c.named),
		Client: f.httpClient(defaultStallTimeout),
	}
	if c.alone {
		return requests, ""
	}
	var err error
	if requests.Settings, err = f.program().Settings(ctx, c.addr.target.Remote); err != nil {
		return nil, "the configuration of git cannot be read" // git will say what is wrong
	}
	switch err := requests.Open(); {
	case err == nil:
		return requests, ""
	case errors.As(err, new(*gitexec.SettingError)):
		return nil, err.Error()
	}
	return nil, "git has certificates or a proxy of its own"
}

// gitServers is what servers have shown in this run.
type gitServers struct {
	mu sync.Mutex
	// left has the repositories, and the origins of servers, that are left to git after a failure in this process.
	left map[string]bool
}

func (s *gitServers) failed(a *gitAddress, err error) {
	key := a.identity()
	if errors.Is(err, gitwire.ErrOldProtocol) || errors.Is(err, gitwire.ErrNotSmart) {
		key = hostname.Origin(a.target.URL)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == nil {
		s.left = map[string]bool{}
	}
	s.left[key] = true
}

func (s *gitServers) isLeft(a *gitAddress) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left[a.identity()] || s.left[hostname.Origin(a.target.URL)]
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
	req := Request{Package: pkg}
	addr, err := parseGitAddress(req)
	if err != nil {
		return GitClient{}, err
	}
	c, err := f.clientFor(ctx, req, addr)
	if err != nil {
		return GitClient{}, err
	}
	at := c.addr.target
	return GitClient{
		InProcess: c.reason == "", SSH: at.URL.Scheme == "ssh", Reason: c.reason, Alone: c.alone,
		URL: at.URL, Setting: at.Setting, SettingCredentials: at.User != nil,
	}, nil
}
