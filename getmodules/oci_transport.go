package getmodules

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/net/publicsuffix"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// ociTransport decides where requests of the registry client may go. It follows redirects itself, so that
// the client never sees a location, or an authentication challenge, of another server.
type ociTransport struct {
	// registry and token send requests to the registry and to a token service.
	registry, token *httpx.Client
	// host is the registry's. It may speak http if plain is set: the user has said so, or it is a loopback
	// host that has answered a TLS handshake in http.
	host     string
	loopback bool
	plain    atomic.Bool
	// pointer is the URL of the server or package that has named the registry; nil for the user or the
	// project.
	pointer *url.URL
	// api is the prefix of the paths of requests to the registry. All others are for a token.
	api string
	// loggedIn says that a request had the user's credentials. Requests with a token may have none: registries give
	// tokens to all who ask.
	loggedIn atomic.Bool
}

func (t *ociTransport) at() *url.URL {
	if t.plain.Load() {
		return &url.URL{Scheme: "http", Host: t.host}
	}
	return &url.URL{Scheme: "https", Host: t.host}
}

// RoundTrip asks a registry on this machine over https first, and over http if it speaks that, as Docker
// does.
func (t *ociTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, err := t.roundTrip(req)
	if err != nil && httpx.IsPlainLoopback(t.at(), err) && (req.Body == nil || req.Body == http.NoBody) {
		t.plain.Store(true)
		answer, err = t.roundTrip(req)
	}
	if err != nil || !t.plain.Load() {
		return answer, err
	}
	// The registry client, which has asked over https, would refuse a location over http.
	if at, failed := answer.Location(); failed == nil && httpx.SameOrigin(at, t.at()) {
		at.Scheme = "https"
		answer.Header.Set("Location", at.String())
	}
	return answer, nil
}

func (t *ociTransport) roundTrip(req *http.Request) (*http.Response, error) {
	if t.pointer != nil {
		req = req.WithContext(httpx.PointedTo(req.Context(), t.pointer))
	}
	// Digests apply to the bytes as they are stored.
	asked := req.Clone(req.Context())
	if at := t.at(); req.URL.Host == t.host && at.Scheme == "http" {
		asked.URL.Scheme = at.Scheme // the registry client writes https
	} else if req.URL.Scheme != "https" {
		return nil, t.refuse(req, "it is not https")
	}
	asked.Header.Set("Accept-Encoding", "identity")
	toRegistry := httpx.SameOrigin(asked.URL, t.at()) && strings.HasPrefix(req.URL.Path, t.api)
	switch uploads := req.Method == http.MethodPut || req.Method == http.MethodPost; {
	case !toRegistry && req.Method == http.MethodPut:
		return nil, t.refuse(req, "it is not in the repository")
	case !toRegistry:
		return t.askForToken(asked)
	case uploads:
		return t.upload(asked)
	}
	if strings.HasPrefix(asked.Header.Get("Authorization"), "Basic ") {
		t.loggedIn.Store(true)
	}
	answer, err := t.registry.Send(asked)
	if err != nil {
		return nil, err
	}
	answer.Request, answer.Authorized = req, t.loggedIn.Load()
	elsewhere := func(u *url.URL) bool { return !httpx.SameOrigin(u, t.at()) }
	switch isChallenge := answer.StatusCode == http.StatusUnauthorized && !slices.ContainsFunc(answer.Asked, elsewhere); {
	case answer.StatusCode != http.StatusOK && !isChallenge:
		defer answer.Body.Close()
		return nil, answer.StatusError()
	case strings.HasPrefix(req.URL.Path, t.api+"blobs/"):
		return answer.Response, nil
	}
	return readOCIMetadata(answer)
}

// upload sends a request that changes the registry, to a URL that it may have named. The caller refuses
// other hosts and paths.
func (t *ociTransport) upload(req *http.Request) (*http.Response, error) {
	ctx, guard := t.registry.Floor.Watch(req.Context())
	sent := req.Clone(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		sent.Body = &guardedBody{req.Body, guard}
	}
	client := *t.registry
	client.Floor, client.MaxRedirects = httpx.Floor{}, 0 // the guard measures what is sent
	answer, err := client.Send(sent)
	defer guard.Stop()
	if err != nil {
		if stalled := guard.Err(); stalled != nil {
			return nil, &httpx.NetworkError{URL: addrs.Redact(req.URL.String()), Err: stalled}
		}
		return nil, err
	}
	answer.Request = req
	if answer.StatusCode/100 != 2 && answer.StatusCode != http.StatusUnauthorized {
		defer answer.Body.Close()
		return nil, answer.StatusError()
	}
	return readOCIMetadata(answer)
}

// guardedBody counts bytes that are read from it as progress of the transfer.
type guardedBody struct {
	io.ReadCloser
	guard *httpx.Guard
}

func (b *guardedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.guard.Add(n)
	return n, err
}

// askForToken sends a request to a token service, which may not redirect it.
func (t *ociTransport) askForToken(req *http.Request) (*http.Response, error) {
	if err := t.checkTokenService(req); err != nil {
		return nil, err
	}
	if req.Method == http.MethodPost || req.Header.Get("Authorization") != "" {
		t.loggedIn.Store(true)
	}
	answer, err := t.token.Send(req.WithContext(httpx.PointedToHost(req.Context(), t.at(), req.URL)))
	if err != nil {
		return nil, t.fromTokenService(req, err)
	}
	switch {
	case answer.StatusCode/100 == 3:
		_ = answer.Body.Close()
		return nil, t.refuse(req, "it redirects requests for a token")
	case answer.StatusCode != http.StatusOK:
		defer answer.Body.Close()
		status := answer.StatusError()
		if status.IsRefusal() {
			status.Meaning = status.Answer.SentFor(t.host)
		}
		return nil, t.fromTokenService(req, status)
	}
	if kind := httpx.WebPage(answer.Header); kind != "" {
		_ = answer.Body.Close()
		return nil, t.fromTokenService(req, fmt.Errorf("%w: %w", ErrOCIContent, &httpx.PageError{URL: addrs.Redact(req.URL.String()), ContentType: kind}))
	}
	answer.Request = req
	return readOCIMetadata(answer)
}

// fromTokenService adds the token service, which the user's address does not contain, to an error.
func (t *ociTransport) fromTokenService(req *http.Request, err error) error {
	return &tokenServiceError{hostname.Origin(req.URL), err}
}

type tokenServiceError struct {
	service string
	err     error
}

func (e *tokenServiceError) Error() string {
	return fmt.Sprintf("the registry's token service at %q: %s", e.service, e.err)
}

func (e *tokenServiceError) Unwrap() error { return e.err }

// readOCIMetadata reads an answer that is not a blob: the client would truncate it at its limit, and needs
// the length of manifests.
func readOCIMetadata(answer *httpx.Response) (*http.Response, error) {
	defer answer.Body.Close()
	limit := int64(maxOCIMetadata)
	if answer.Request.Method != http.MethodHead {
		text, err := answer.ReadAll(limit)
		if err != nil {
			return nil, ociTooLarge(answer.Request, err)
		}
		answer.ContentLength = int64(len(text))
		answer.Response.Body = io.NopCloser(bytes.NewReader(text))
		return answer.Response, nil
	}
	if answer.ContentLength > limit {
		return nil, ociTooLarge(answer.Request, &httpx.TooLargeError{Limit: limit})
	}
	answer.Response.Body = http.NoBody
	return answer.Response, nil
}

func (t *ociTransport) refuse(req *http.Request, reason string) error {
	return fmt.Errorf("%w: the registry at %q points to %q: %s", ErrRefusedLocation, hostname.Origin(t.at()), hostname.Origin(req.URL), reason)
}

// checkTokenService refuses hosts to which the registry must not point, and credentials for another domain.
func (t *ociTransport) checkTokenService(req *http.Request) error {
	if req.URL.User != nil {
		return t.refuse(req, "its URL holds a user name")
	}
	if reason, ok := httpx.MayPointTo(req.Context(), t.at(), req.URL); !ok {
		return t.refuse(req, reason)
	}
	hasSecret := req.Header.Get("Authorization") != "" || req.Body != nil && req.Body != http.NoBody
	if hasSecret && !sameSite(t.at().Hostname(), req.URL.Hostname()) {
		return t.refuse(req, "credentials are only sent to a token service of the registry's own domain")
	}
	return nil
}

// sameSite reports whether two hosts are equal, or belong to the same registered domain.
func sameSite(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if a == b || net.ParseIP(a) != nil || net.ParseIP(b) != nil {
		return a == b
	}
	site, err := publicsuffix.EffectiveTLDPlusOne(a)
	if err != nil {
		return false
	}
	other, err := publicsuffix.EffectiveTLDPlusOne(b)
	return err == nil && site == other
}
