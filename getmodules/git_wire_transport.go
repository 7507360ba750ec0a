package getmodules

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/httpx"
)

// gitWires is what a Fetcher remembers of fetching without git.
type gitWires struct {
	mu sync.Mutex
	// left are remotes, and origins of servers, that are left to git because
	// the attempt without it failed.
	left map[string]bool

	once    sync.Once
	trusted http.RoundTripper // with the authorities of the user's settings; nil if that failed
}

// gitWire fetches from one repository in this process.
type gitWire struct {
	client gitwire.Client
	known  *gitWires
	remote string
	origin string
}

// gitWire is for repositories by http that need no credentials and nothing of
// the user's git configuration. It is nil for all others.
func (f *Fetcher) gitWire(ctx context.Context, a gitAddress) *gitWire {
	u := a.remote
	if !f.wireAllowed() || u.Scheme != "https" && u.Scheme != "http" || a.user != nil || a.sshKey != nil || u.RawQuery != "" {
		return nil
	}
	w := &gitWire{known: &f.wires, remote: a.identity(), origin: httpx.Origin(&u)}
	if w.known.isLeft(w.remote) || w.known.isLeft(w.origin) {
		return nil
	}
	settings, err := f.Git.HTTPSettings(ctx)
	if err != nil || !settings.Plain(&u) {
		return nil // git will say what is wrong
	}
	transport := f.wireTransport(settings)
	if transport == nil {
		return nil
	}
	client := f.httpClient(defaultStallTimeout)
	client.HTTP, client.MaxRedirects = &http.Client{Transport: transport}, 0 // gitwire follows redirects
	w.client = gitwire.Client{Transport: client, Repository: &u}
	return w
}

// wireAllowed reports whether the choice of a backend leaves room for it.
func (f *Fetcher) wireAllowed() bool { return !f.AlwaysGit && f.GitBackend == GitAuto }

// failed remembers a failure that the next attempt would meet as well.
func (w *gitWire) failed(err error) {
	switch {
	case errors.Is(err, gitwire.ErrOldProtocol), errors.Is(err, gitwire.ErrNotSmart):
		w.known.leave(w.origin)
	default:
		w.known.leave(w.remote)
	}
}

func (k *gitWires) leave(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left == nil {
		k.left = map[string]bool{}
	}
	k.left[key] = true
}

func (k *gitWires) isLeft(key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.left[key]
}

// wireTransport is the fetcher's transport with the authorities and the proxy
// that git would use, or nil if it cannot have them.
func (f *Fetcher) wireTransport(settings *gitexec.HTTPSettings) http.RoundTripper {
	base := http.DefaultTransport
	if f.HTTPClient != nil && f.HTTPClient.Transport != nil {
		base = f.HTTPClient.Transport
	}
	standard, ok := base.(*http.Transport)
	if settings.Proxy && (!ok || standard.Proxy == nil || f.Git.Env != nil) {
		return nil // another environment than the transport's
	}
	if settings.CAFile == "" {
		return base
	}
	if !ok {
		return nil
	}
	f.wires.once.Do(func() { f.wires.trusted = trusting(standard, settings.CAFile) })
	return f.wires.trusted
}

// trustedIdle is how long connections of a transport of our own stay open: no
// one else can close them.
const trustedIdle = 5 * time.Second

// trusting is a copy of a transport that trusts just the authorities in a file;
// nil if there are none.
func trusting(base *http.Transport, file string) http.RoundTripper {
	pem, err := os.ReadFile(file)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(pem) {
		return nil
	}
	own := base.Clone()
	if own.TLSClientConfig == nil {
		own.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	own.TLSClientConfig.RootCAs = pool
	own.IdleConnTimeout = trustedIdle
	return own
}
