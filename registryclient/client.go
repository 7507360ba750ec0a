package registryclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/versions"
)

// maxRedirects is enough for another domain and a missing slash.
const maxRedirects = 5

// Services finds the services of hosts, and authorizes requests to them. *disco.Client implements it.
type Services interface {
	// ServiceURL returns the base URL of a service, which ends in "/".
	ServiceURL(ctx context.Context, host addrs.Hostname, serviceID string) (*url.URL, error)
	// Authorize adds the credentials for host to an https request, or returns an error and leaves it
	// unchanged.
	Authorize(ctx context.Context, host addrs.Hostname, req *http.Request) error
	// Refused is called after the server of host has answered 401 to a request that Authorize has changed.
	// It reports whether Authorize now adds other credentials, so that the request is worth repeating.
	Refused(ctx context.Context, host addrs.Hostname, req *http.Request) bool
}

// ModuleRegistry is what an installer asks registries of modules; programs usually use a *Client.
// Implementations must be safe for concurrent use.
type ModuleRegistry interface {
	ModuleVersions(ctx context.Context, pkg addrs.ModuleRegistryPackage) ([]versions.Candidate, error)
	PackageLocation(ctx context.Context, pkg addrs.ModuleRegistryPackage, v versions.Version) (Location, error)
	// Download writes the archive at a Direct location, which the registry hosts itself, to w.
	Download(ctx context.Context, pkg addrs.ModuleRegistryPackage, at Location, w io.Writer) error
}

var _ ModuleRegistry = (*Client)(nil)

// Client sends requests to registries of modules and providers. Only Services is required. A Client is safe
// for concurrent use; once it is in use, it must not be copied and its fields must not change. It remembers
// answers until a run of an installer.Installer ends, otherwise as long as it lives; see Fresh.
type Client struct {
	Services Services
	// HTTPClient provides the transport, and its Timeout, by default 30 s, limits each attempt except in
	// Download. Its CheckRedirect and Jar are ignored. nil means http.DefaultTransport.
	HTTPClient *http.Client
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
	// Attempts is how often a request is sent at most. 0 means 4; 1 means no retry.
	Attempts int
	// RetryWait is the maximum wait before the first retry, unless the server requests another. Later waits
	// are up to 16 times longer. 0 means 500 ms.
	RetryWait time.Duration
	// MaxDownload is the maximum size of hosted packages in bytes; 0 means DefaultMaxDownload.
	MaxDownload int64

	listings  answers[[]versions.Candidate]
	locations answers[Location]
	providers answers[ProviderListing]
	packages  answers[ProviderPackage]
	pauses    httpx.Pauses
}

// Fresh returns a client with the same settings, services and connections that remembers no answers. c may
// be in use. Programs with an installer.Installer, whose every run asks again, do not need it. Others call
// it to see new versions. The new client shares Services, so a *disco.Client may need its Fresh as well.
func (c *Client) Fresh() *Client {
	return &Client{
		Services: c.Services, HTTPClient: c.HTTPClient, UserAgent: c.UserAgent,
		Attempts: c.Attempts, RetryWait: c.RetryWait, MaxDownload: c.MaxDownload,
	}
}

type answers[V any] = singleflight.Group[httpx.Shared[subject], V]

func (c *Client) httpClient() *httpx.Client {
	return &httpx.Client{
		HTTP:           c.HTTPClient,
		UserAgent:      c.UserAgent,
		MaxRedirects:   maxRedirects,
		Refuse:         httpx.InsecureRedirect,
		AttemptTimeout: httpx.TimeoutOf(c.HTTPClient),
		Retry:          httpx.Retry{Attempts: c.Attempts, FirstWait: c.RetryWait, Pauses: &c.pauses},
	}
}

const (
	modulesService   = "modules.v1"
	providersService = "providers.v1"
)

// subject is a module or a provider, possibly a version of it.
type subject struct {
	module   addrs.ModuleRegistryPackage
	provider addrs.Provider
	version  versions.Version
	platform addrs.Platform // set for a provider's package
	// listed is the version as the registry lists it, if it is requested in this form.
	listed string
}

// missingAt is what a 404 of the host means.
func (s subject) missingAt(host string) string {
	kind, name, _ := strings.Cut(failBefore(s, nil).Subject(), " ")
	text := fmt.Sprintf("it has no %s %s", kind, strings.TrimPrefix(name, host+"/"))
	if s.platform == (addrs.Platform{}) { // which the registry lists
		text += ", or shows it only with credentials"
	}
	if s.listed != "" {
		text += fmt.Sprintf(", although it lists it as %q", shown(s.listed))
	}
	return text
}

// asListed asks again for the version as the registry lists it, such as "v1.2.0" or "20.02.10", if there is nothing
// under its usual form.
func asListed[V any](about subject, find func(subject) (V, error), listed func() string) (V, error) {
	found, err := find(about)
	if !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrUnsupportedPlatform) {
		return found, err
	}
	if about.listed = listed(); about.listed == "" || about.listed == about.version.String() {
		return found, err
	}
	return find(about)
}

func (s subject) isProvider() bool { return s.provider != addrs.Provider{} }

// isLocation reports whether the answer is a module's location, which may be only in a header.
func (s subject) isLocation() bool { return !s.isProvider() && !s.version.IsZero() }

func (s subject) host() addrs.Hostname {
	if s.isProvider() {
		return s.provider.Hostname
	}
	return s.module.Host
}

// segments returns the path of an endpoint below the service's URL. last follows address and version.
func (s subject) segments(last ...string) []string {
	address := []string{s.module.Namespace, s.module.Name, s.module.TargetSystem}
	if s.isProvider() {
		address = []string{s.provider.Namespace, s.provider.Type}
	}
	if !s.version.IsZero() {
		address = append(address, cmp.Or(s.listed, s.version.String()))
	}
	return slices.Concat(address, last)
}

func (c *Client) endpoint(ctx context.Context, about subject, last ...string) (*request, error) {
	base, err := c.service(ctx, about)
	if err != nil {
		return nil, err
	}
	u, err := appendSegments(base, about.segments(last...))
	if err != nil {
		return nil, failBefore(about, err)
	}
	return &request{subject: about, url: u}, nil
}

func (c *Client) service(ctx context.Context, about subject) (*url.URL, error) {
	if c.Services == nil {
		return nil, failBefore(about, errors.New("registryclient: Client.Services is nil"))
	}
	service := modulesService
	if about.isProvider() {
		service = providersService
	}
	base, err := c.Services.ServiceURL(ctx, about.host(), service)
	if err != nil {
		return nil, failBefore(about, err)
	}
	return base, nil
}

// appendSegments appends segments to the path of base and drops its query string, like the resolution of a
// relative URL, but escapes them, so that none of them points to another endpoint.
func appendSegments(base *url.URL, segments []string) (*url.URL, error) {
	escaped := strings.TrimSuffix(base.EscapedPath(), "/")
	for _, segment := range segments {
		if segment == "" || segment == "." || segment == ".." {
			return nil, fmt.Errorf("%q cannot be a part of an address in a registry", segment)
		}
		escaped += "/" + url.PathEscape(segment)
	}
	// JoinPath would clean the path of base, which can have the "//" of another URL.
	path, err := url.PathUnescape(escaped)
	return &url.URL{Scheme: base.Scheme, Host: base.Host, Path: path, RawPath: escaped}, err
}

type request struct {
	subject
	url     *url.URL
	secrets []string
	// credentialsErr is the reason if no credentials are sent, or nil if there are none.
	authorized     bool
	credentialsErr error
}

// login makes requests for the media types in accept. Their errors are *[RequestError].
func (r *request) login(ctx context.Context, services Services, accept string, withCredentials bool) httpx.Login {
	return httpx.Login{
		Request: func() (*http.Request, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url.String(), nil)
			if err == nil && withCredentials {
				err = r.authorize(ctx, services, req)
			}
			if err != nil {
				return nil, r.fail(err)
			}
			req.Header.Set("Accept", accept)
			return req, nil
		},
		Renewed: func(refused *http.Request) bool {
			return r.authorized && services.Refused(ctx, r.host(), refused)
		},
	}
}

// authorize adds credentials to a request without any header. The error is that of the context.
func (r *request) authorize(ctx context.Context, services Services, req *http.Request) error {
	if r.credentialsErr = services.Authorize(ctx, r.host(), req); ctx.Err() != nil {
		return ctx.Err()
	}
	r.authorized = len(req.Header) > 0
	for _, values := range req.Header {
		r.secrets = append(r.secrets, values...)
	}
	return nil
}

// limited returns the context for requests to a URL that the registry's host, or the user, has named;
// package disco has judged its text.
func (r *request) limited(ctx context.Context) context.Context {
	return httpx.PointedToName(ctx, &url.URL{Scheme: "https", Host: string(r.host())}, r.url)
}

// document is a text at an endpoint of a registry.
type document[V any] struct {
	// last follows the address and the version in the path.
	last  []string
	limit int64 // in bytes
	// read is called for an answer with success.
	read func(*request, *httpx.Answer) (V, error)
	// listed is that of [httpx.Document].
	listed func(V) int
}

// ask requests a document and reads it.
func ask[V any](ctx context.Context, c *Client, about subject, d document[V]) (none V, _ error) {
	r, err := c.endpoint(ctx, about, d.last...)
	if err != nil {
		return none, err
	}
	found, answer, err := httpx.Document[V]{
		Login: r.login(r.limited(ctx), c.Services, "application/json", true),
		Limit: d.limit,
		Read: func(answer *httpx.Answer) (V, error) {
			if answer.StatusCode != http.StatusOK && !(answer.StatusCode == http.StatusNoContent && about.isLocation()) {
				return none, r.refusal(answer, r.missingAt(answer.URL().Host))
			}
			return d.read(r, answer)
		},
		Listed: d.listed,
	}.Get(c.httpClient())
	if failure, ok := errors.AsType[*RequestError](err); ok {
		return none, failure
	}
	if err != nil {
		return none, r.failWith(answer, err)
	}
	return found, nil
}

func (r *request) fail(err error) *RequestError {
	if errors.As(err, new(*httpx.RedirectError)) || errors.As(err, new(*httpx.TooLargeError)) {
		err = fmt.Errorf("%w: %w", ErrInvalidAnswer, err)
	}
	failure := failBefore(r.subject, err)
	failure.URL = addrs.Redact(r.url.String())
	failure.CredentialsSent = r.authorized
	return failure
}

// failWith returns an error about an answer, which is nil if there was none.
func (r *request) failWith(answer *httpx.Answer, err error) *RequestError {
	failure := r.fail(err)
	if answer != nil {
		failure.StatusCode = answer.StatusCode
	}
	return failure
}

func failBefore(about subject, err error) *RequestError {
	return &RequestError{Package: about.module, Provider: about.provider, Version: about.version, Platform: about.platform, Err: err}
}
