package gitexec

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/cotterpin/cotter/internal/process/procgroup"
)

// Connection says how git connects to the server of a URL. URLs with equal values share their
// connections.
type Connection struct {
	// Proxy is used for all requests instead of the proxies in the environment, if HasProxy is set. ""
	// means none.
	Proxy    string
	HasProxy bool
	// CAFile and CADir have the certificates of the authorities to trust instead of the system's.
	CAFile, CADir string
	// Certificate and Key are files with the certificate to show to the server.
	Certificate, Key string
	AnyCertificate   bool
}

func (g *Git) transport(c Connection) (http.RoundTripper, error) {
	if g.OwnConnections {
		return g.base(), nil
	}
	made, _ := g.transports.LoadOrStore(c, sync.OnceValues(func() (http.RoundTripper, error) { return g.newTransport(c) }))
	return made.(func() (http.RoundTripper, error))()
}

func (g *Git) base() http.RoundTripper {
	if g.HTTP == nil {
		return http.DefaultTransport
	}
	return g.HTTP
}

// transportIdle is short because callers cannot close idle connections.
const transportIdle = 5 * time.Second

var errOtherTransport = errors.New("the caller's HTTP transport cannot have git's proxy or certificates")

func (g *Git) newTransport(c Connection) (http.RoundTripper, error) {
	proxies := proxiesOf(g.Environ(), c)
	standard, isStandard := g.base().(*http.Transport)
	if isStandard && g.Env == nil && !c.HasProxy && !proxies.isForAll && standard.Proxy != nil {
		proxies.isSet = false // the transport uses those in the environment by itself
	}
	if c.HasProxy {
		c.Proxy = ""
		c.HasProxy = false
	}
	if !proxies.isSet && c == (Connection{}) {
		return g.base(), nil
	}
	if !isStandard {
		return nil, errOtherTransport
	}
	own := standard.Clone()
	own.IdleConnTimeout = transportIdle
	if proxies.isSet {
		proxyFor := proxies.config.ProxyFunc()
		own.Proxy = func(req *http.Request) (*url.URL, error) { return proxyFor(req.URL) }
	}
	if own.TLSClientConfig == nil {
		own.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return own, c.secure(own.TLSClientConfig)
}

func (c Connection) secure(config *tls.Config) error {
	config.InsecureSkipVerify = config.InsecureSkipVerify || c.AnyCertificate
	if c.CAFile != "" || c.CADir != "" {
		pool, err := c.authorities()
		if err != nil {
			return err
		}
		config.RootCAs = pool
	}
	if c.Certificate == "" {
		return nil
	}
	key := c.Key
	if key == "" {
		key = c.Certificate
	}
	own, err := tls.LoadX509KeyPair(c.Certificate, key)
	if err != nil {
		return fmt.Errorf("git's http.sslCert: %w", err)
	}
	config.Certificates = []tls.Certificate{own}
	return nil
}

func (c Connection) authorities() (*x509.CertPool, error) {
	var files []string
	if c.CAFile != "" {
		files = append(files, c.CAFile)
	}
	if c.CADir != "" {
		entries, err := os.ReadDir(c.CADir)
		if err != nil {
			return nil, fmt.Errorf("git's http.sslCAPath: %w", err)
		}
		for _, entry := range entries {
			files = append(files, filepath.Join(c.CADir, entry.Name()))
		}
	}
	pool, found := x509.NewCertPool(), false
	for _, file := range files {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("git's http.sslCAInfo: %w", err)
		}
		found = pool.AppendCertsFromPEM(pem) || found
	}
	if !found {
		return nil, errors.New("git's http.sslCAInfo: no certificate found")
	}
	return pool, nil
}

type proxies struct {
	config httpproxy.Config
	// isSet is set if there are any, or if the user has said that there are none. isForAll is set if one
	// is for all protocols, which net/http does not know.
	isSet, isForAll bool
}

func proxiesOf(env []string, c Connection) proxies {
	get := func(names ...string) string {
		for _, name := range names {
			if value, ok := procgroup.Lookup(env, name); ok {
				return value
			}
		}
		return ""
	}
	p := proxies{config: httpproxy.Config{NoProxy: get("no_proxy", "NO_PROXY")}}
	if c.HasProxy {
		p.config.HTTPProxy, p.config.HTTPSProxy, p.isSet = c.Proxy, c.Proxy, true
		return p
	}
	// As for git, HTTP_PROXY in upper case has no effect.
	p.isForAll = get("all_proxy", "ALL_PROXY") != ""
	p.config.HTTPProxy = get("http_proxy", "all_proxy", "ALL_PROXY")
	p.config.HTTPSProxy = get("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
	p.isSet = p.config.HTTPProxy != "" || p.config.HTTPSProxy != ""
	return p
}
