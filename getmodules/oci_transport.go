package getmodules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/cotterpin/cotter/internal/reach"
)

// ociTransport is what is between the registry client and the network. The
// client authenticates requests; the transport decides where they may go. It
// follows redirects by itself, so that the client never sees a location, or a
// challenge, of another server.
type ociTransport struct {
	fetcher *Fetcher
	// registry is the origin of the registry: "https://host:port".
	registry string
	// api is what the paths of requests to the registry begin with. All
	// others are for a token.
	api string
}

func (t *ociTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" {
		return nil, t.refuse(r, "it is not https")
	}
	isToken := origin(r.URL) != t.registry || !strings.HasPrefix(r.URL.Path, t.api)
	if isToken {
		if err := t.checkTokenService(r); err != nil {
			return nil, err
		}
	}
	watched, guard := guardStall(r.Context(), r.URL, t.fetcher.floor(defaultStallTimeout))
	answer, err := t.follow(r.WithContext(watched), isToken)
	if err != nil {
		guard.Stop()
		return nil, guard.explain(err)
	}
	answer.Request = r
	answer.Body = &ociBody{guard.body(answer.Body), guard}
	if strings.HasPrefix(r.URL.Path, t.api+"blobs/") {
		return answer, nil
	}
	if err := readOCIMetadata(answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// readOCIMetadata reads an answer that is no blob, as a whole. The client would
// cut off what is over its limit, and needs to know the length of manifests.
func readOCIMetadata(answer *http.Response) (err error) {
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxOCIMetadata+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxOCIMetadata || answer.ContentLength > maxOCIMetadata:
		return fmt.Errorf("%w: the answer of the registry has more than %d bytes", ErrTooLarge, maxOCIMetadata)
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	if answer.Request.Method != http.MethodHead {
		answer.ContentLength = int64(len(text))
	}
	return nil
}

func (t *ociTransport) refuse(r *http.Request, reason string) error {
	return fmt.Errorf("%w: the registry at %q leads to %q: %s", ErrRefusedLocation, t.registry, origin(r.URL), reason)
}

// checkTokenService keeps credentials from token services that are strangers to
// the registry.
func (t *ociTransport) checkTokenService(r *http.Request) error {
	if r.URL.User != nil {
		return t.refuse(r, "its URL holds a user name")
	}
	secret := r.Header.Get("Authorization") != "" || r.Body != nil && r.Body != http.NoBody
	registry, err := url.Parse(t.registry)
	if err != nil {
		return t.refuse(r, "the registry's own address is none")
	}
	if reason, ok := reach.May(registry, r.URL); !ok {
		return t.refuse(r, reason)
	}
	if secret && !sameSite(registry.Hostname(), r.URL.Hostname()) {
		return t.refuse(r, "credentials go to a token service of the registry's own domain only")
	}
	return nil
}

// sameSite reports whether two hosts are the same, or beneath one domain that
// somebody registered.
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

// follow sends a request and follows redirects, each by a new request that has
// nothing of the credentials once the origin was left, even if it comes back.
func (t *ociTransport) follow(r *http.Request, isToken bool) (*http.Response, error) {
	header := r.Header.Clone()
	// The digests are those of the bytes as they are stored.
	header.Set("Accept-Encoding", "identity")
	request := r.Clone(r.Context())
	request.Header = header
	abroad := isToken
	for hops := 0; ; hops++ {
		answer, err := t.fetcher.transport().RoundTrip(request)
		if err != nil {
			return nil, &networkError{request.URL, err}
		}
		next, err := redirect(answer, request.URL)
		switch {
		case err != nil:
			return nil, err
		case next == nil:
			return checkOCIStatus(answer, request.URL, abroad)
		case isToken:
			return nil, t.refuse(r, "it redirects requests for a token")
		case hops == maxRedirects:
			return nil, fmt.Errorf("%w: more than %d redirects", ErrRefusedLocation, maxRedirects)
		}
		if origin(next) != t.registry {
			abroad = true
			header = header.Clone()
			header.Del("Authorization")
		}
		request = (&http.Request{Method: r.Method, URL: next, Host: next.Host, Header: header}).WithContext(r.Context())
	}
}

// checkOCIStatus makes an error of every status that is a failure. The client
// needs to see just one of them, to authenticate: the registry's own 401.
func checkOCIStatus(answer *http.Response, asked *url.URL, abroad bool) (*http.Response, error) {
	status := answer.StatusCode
	if status == http.StatusOK || status == http.StatusUnauthorized && !abroad {
		return answer, nil
	}
	if err := answer.Body.Close(); err != nil {
		return nil, &networkError{asked, err}
	}
	return nil, statusError(asked, status, answer.Header.Get("Retry-After"))
}

// ociBody ends the watch over a request with its answer.
type ociBody struct {
	io.ReadCloser
	guard *stallGuard
}

func (b *ociBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	return n, b.guard.explain(err)
}

func (b *ociBody) Close() error {
	defer b.guard.Stop()
	return b.ReadCloser.Close()
}
