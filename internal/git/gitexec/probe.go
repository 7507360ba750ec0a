package gitexec

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/procgroup"
)

// userAgent begins like git's own, because some servers use it to distinguish git from browsers.
const userAgent = "git/cotter"

// maxCredentials bounds the output of "git credential fill", in bytes.
const maxCredentials = 64 << 10

// location requests the list of a repository's refs as git does, and returns the Location header of
// the answer. It returns "" if the answer is no redirect. With withSecrets, the request has the
// headers that the user has configured for the URL and, if the server wants a login, the
// credentials that git has for it.
func (r *Repository) location(ctx context.Context, repository *url.URL, withSecrets bool) (string, error) {
	target, err := listingURL(repository)
	if err != nil {
		return "", err
	}
	settings, err := r.probeSettings(ctx, target)
	if err != nil {
		return "", err
	}
	transport, err := settings.transport(r.Git.environ())
	if err != nil {
		return "", err
	}
	defer transport.CloseIdleConnections()
	client := &httpx.Client{
		HTTP:           &http.Client{Transport: transport},
		UserAgent:      userAgent,
		Retry:          r.Retry,
		AttemptTimeout: httpx.DefaultTimeout,
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Git-Protocol", "version=2") // the answer to version 2 is short
	if settings.userAgent != "" {
		req.Header.Set("User-Agent", settings.userAgent)
	}
	if withSecrets && settings.header != "" {
		name, value, _ := strings.Cut(settings.header, ":")
		req.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	answer, err := send(client, req)
	if err == nil && answer.StatusCode == http.StatusUnauthorized && withSecrets {
		user, password := r.credentialsOfGit(ctx, repository)
		if user == "" && password == "" {
			return "", nil
		}
		req.SetBasicAuth(user, password)
		answer, err = send(client, req)
	}
	if err != nil || answer.StatusCode/100 != 3 {
		return "", err
	}
	return answer.Header.Get("Location"), nil
}

// send sends a request and returns the answer to it, whatever its status. The body of an answer
// with a status of 2xx is not read.
func send(client *httpx.Client, req *http.Request) (*httpx.Answer, error) {
	answer := &httpx.Answer{}
	err := client.Do(req, func(r *httpx.Response) error {
		answer.StatusCode, answer.Header = r.StatusCode, r.Header
		return nil
	})
	if status, ok := errors.AsType[*httpx.StatusError](err); ok {
		return status.Answer, nil
	}
	return answer, err
}

// credentialsOfGit returns the credentials that git has for a URL: those of the address, which
// credentials has configured, or those of the user's helpers. Git does not prompt for them. It
// returns "" if there are none.
func (r *Repository) credentialsOfGit(ctx context.Context, repository *url.URL) (user, password string) {
	network := *r.network
	network.Secrets = append(slices.Clone(network.Secrets), "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never")
	if r.Git.Interactive {
		network.Secrets = append(network.Secrets, "GIT_ASKPASS=") // it may open a window
	}
	fill := r.command("credential", "fill")
	fill.Network = &network
	process, err := r.Git.Start(ctx, fill)
	if err != nil {
		return "", ""
	}
	defer process.Kill()
	if _, err := io.WriteString(process.Stdin, "url="+repository.String()+"\n\n"); err != nil {
		return "", ""
	}
	_ = process.Stdin.Close()
	out, err := io.ReadAll(io.LimitReader(process.Stdout, maxCredentials))
	if err != nil {
		return "", ""
	}
	for line := range strings.Lines(string(out)) {
		switch key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "="); key {
		case "username":
			user = value
		case "password":
			password = value
		}
	}
	return user, password
}

// probeSettings are the settings of git for requests to one URL, as far as package httpx can apply
// them.
type probeSettings struct {
	// proxy is used for all requests instead of the proxies in the environment; nil means those
	// of the environment, and "" means none.
	proxy                *string
	caFile, caDir        string
	certificate, key     string
	acceptAnyCertificate bool
	header               string // "Name: value"
	userAgent            string
}

// settingError says that git has a setting for a URL that package httpx cannot apply. A request
// without it could have another result than git's, or could reach another server.
type settingError struct{ name string }

func (e *settingError) Error() string {
	return fmt.Sprintf("the server redirects to another URL, which is not used because of git's setting %s; use that URL in the address", e.name)
}

// probeSettings returns the settings for a URL in the user's configuration and environment. Git
// decides which settings apply to the URL. The error is a *settingError if one is not supported.
func (r *Repository) probeSettings(ctx context.Context, u *url.URL) (*probeSettings, error) {
	out, err := r.Git.Output(ctx, r.command("config", "-z", "--get-urlmatch", "http", u.String()), maxConfig)
	if err != nil && exitCode(err) != 1 { // 1 means that there are none
		return nil, err
	}
	s := &probeSettings{}
	for _, entry := range SplitNames(string(out)) {
		name, value, hasValue := strings.Cut(entry, "\n")
		key := strings.TrimPrefix(name, "http.")
		switch {
		case key == "proxy":
			s.proxy = &value
		case key == "sslverify":
			s.acceptAnyCertificate = hasValue && !gitdir.IsTrue(value)
		case key == "extraheader":
			s.header = value
		case key == "useragent":
			s.userAgent = value
		case slices.Contains([]string{"sslcainfo", "sslcapath", "sslcert", "sslkey"}, key):
			if err := r.setFile(ctx, s, key, value, u); err != nil {
				return nil, err
			}
		case key != "followredirects" && !slices.Contains(harmless[:], key):
			return nil, &settingError{"http." + key}
		}
	}
	return s, s.readEnvironment(r.Git)
}

// setFile sets the name of a file or directory. Git expands names such as ~/ca.pem.
func (r *Repository) setFile(ctx context.Context, s *probeSettings, key, value string, u *url.URL) error {
	if value != "" && !filepath.IsAbs(value) {
		out, err := r.Git.Output(ctx, r.command("config", "-z", "--type=path", "--get-urlmatch", "http."+key, u.String()), maxConfig)
		if err != nil {
			return err
		}
		value = strings.TrimSuffix(string(out), "\x00")
	}
	fields := map[string]*string{"sslcainfo": &s.caFile, "sslcapath": &s.caDir, "sslcert": &s.certificate, "sslkey": &s.key}
	*fields[key] = value
	return nil
}

// readEnvironment reads the variables that take precedence over the configuration.
func (s *probeSettings) readEnvironment(g *Git) error {
	for name, field := range map[string]*string{
		"GIT_SSL_CAINFO": &s.caFile, "GIT_SSL_CAPATH": &s.caDir, "GIT_SSL_CERT": &s.certificate, "GIT_SSL_KEY": &s.key,
		"GIT_HTTP_USER_AGENT": &s.userAgent,
	} {
		if value := g.Getenv(name); value != "" {
			*field = value
		}
	}
	if g.Getenv("GIT_SSL_NO_VERIFY") != "" {
		s.acceptAnyCertificate = true
	}
	for _, name := range []string{"GIT_SSL_CIPHER_LIST", "GIT_SSL_VERSION", "GIT_SSL_CERT_PASSWORD_PROTECTED", "GIT_PROXY_SSL_CAINFO", "GIT_PROXY_SSL_CERT", "GIT_PROXY_SSL_KEY", "GIT_HTTP_PROXY_AUTHMETHOD"} {
		if g.Getenv(name) != "" {
			return &settingError{name}
		}
	}
	return nil
}

// transport returns a transport with the settings, and with the proxies in an environment. It is
// not shared, because the settings are those of one URL.
func (s *probeSettings) transport(env []string) (*http.Transport, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.acceptAnyCertificate} //nolint:gosec // the user's own setting for this URL
	if s.caFile != "" || s.caDir != "" {
		pool, err := s.authorities()
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
	}
	if s.certificate != "" {
		key := s.key
		if key == "" {
			key = s.certificate
		}
		own, err := tls.LoadX509KeyPair(s.certificate, key)
		if err != nil {
			return nil, fmt.Errorf("git's http.sslCert: %w", err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	proxyFor := s.proxies(env).ProxyFunc()
	transport := &http.Transport{
		Proxy:             func(req *http.Request) (*url.URL, error) { return proxyFor(req.URL) },
		TLSClientConfig:   config,
		ForceAttemptHTTP2: true,
	}
	return transport, nil
}

// authorities returns the certificates of the authorities that git trusts for the URL.
func (s *probeSettings) authorities() (*x509.CertPool, error) {
	files := []string{s.caFile}
	if s.caFile == "" {
		files = nil
	}
	if s.caDir != "" {
		entries, err := os.ReadDir(s.caDir)
		if err != nil {
			return nil, fmt.Errorf("git's http.sslCAPath: %w", err)
		}
		for _, entry := range entries {
			files = append(files, filepath.Join(s.caDir, entry.Name()))
		}
	}
	pool := x509.NewCertPool()
	for _, file := range files {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("git's http.sslCAInfo: %w", err)
		}
		pool.AppendCertsFromPEM(pem) // files without certificates add none
	}
	return pool, nil
}

// proxies returns the proxies that git uses for the URL.
func (s *probeSettings) proxies(env []string) *httpproxy.Config {
	get := func(names ...string) string {
		for _, name := range names {
			if value, ok := procgroup.Lookup(env, name); ok {
				return value
			}
		}
		return ""
	}
	config := &httpproxy.Config{NoProxy: get("no_proxy", "NO_PROXY")}
	if s.proxy != nil {
		config.HTTPProxy, config.HTTPSProxy = *s.proxy, *s.proxy
		return config
	}
	// As for git, HTTP_PROXY in upper case has no effect.
	config.HTTPProxy = get("http_proxy", "all_proxy", "ALL_PROXY")
	config.HTTPSProxy = get("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
	return config
}
