package httpx_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/httpx/webtest"
)

// TestMessages has failures with their messages. No message contains the URL of the request.
func TestMessages(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	to := func(location string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusFound)
		}
	}
	routes := map[string]http.HandlerFunc{
		"/plain":   to("http://example.com/x?token=" + webtest.Canary),
		"/file":    to("file:///etc/passwd"),
		"/invalid": to("https://u:" + webtest.Canary + "@h h/" + webtest.Canary),
		"/missing": to(""),
		"/local":   to("https://127.0.0.1/x"),
		"/loop":    to("/loop?token=" + webtest.Canary),
		"/gone":    to("https://nowhere.example/x?token=" + webtest.Canary),
		"/far":     to("/404?token=" + webtest.Canary),
		"/busy": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"/500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"/ok":  hello,
	}
	web.Serve("https://example.com", func(w http.ResponseWriter, r *http.Request) {
		if route := routes[r.URL.Path]; route != nil {
			route(w, r)
			return
		}
		http.NotFound(w, r)
	})
	c := httpx.Client{HTTP: web.Client(), MaxRedirects: 2, Refuse: httpx.InsecureRedirect, Retry: httpx.Retry{FirstWait: time.Nanosecond}}
	for path, want := range map[string]string{
		"/plain":   `the server redirects to "http://example.com/x?token=REDACTED": redirects from https to http are not followed`,
		"/file":    `the server redirects to "file:///etc/passwd": only http and https URLs with a host are followed`,
		"/invalid": `the server redirects: the header Location is not a valid URL`,
		"/missing": `the server redirects: the header Location is not a valid URL`,
		"/local":   `the server redirects to "https://127.0.0.1/x": its host is this machine`,
		"/loop":    `"https://example.com/loop?token=REDACTED" redirects to "https://example.com/loop?token=REDACTED": that is more than 2 redirects in a row`,
		"/gone":    `after a redirect to "https://nowhere.example/x?token=REDACTED": dial tcp: connection refused (after 4 attempts)`,
		"/far":     `after a redirect to "https://example.com/404?token=REDACTED": the server answered 404 Not Found`,
		"/busy":    `the server answered 429 Too Many Requests; the server asks clients to wait 1m30s before they try again`,
		"/500":     `the server answered 500 Internal Server Error after 4 attempts`,
		"/ok":      `the answer is larger than the limit of 4 bytes`,
	} {
		err := c.Do(get(t, "https://example.com"+path), func(answer *httpx.Response) error {
			_, err := answer.ReadAll(4)
			return err
		})
		if err == nil || err.Error() != want {
			t.Errorf("%s: error is\n%v, want\n%s", path, err, want)
		}
	}
}

func TestMessagesAboutCertificates(t *testing.T) {
	t.Parallel()
	for want, reason := range map[string]error{
		"the server's certificate is signed by an unknown authority": x509.UnknownAuthorityError{},
		"the server's certificate cannot be trusted: certificate is valid for a.example, not b.example": x509.HostnameError{
			Certificate: &x509.Certificate{DNSNames: []string{"a.example"}}, Host: "b.example",
		},
		"the server's certificate cannot be trusted: bad": errors.New("x509: bad"),
	} {
		transport := roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, &tls.CertificateVerificationError{Err: reason}
		})
		c := httpx.Client{HTTP: &http.Client{Transport: transport}}
		_, err := c.Read(get(t, "https://example.com/"), 100)
		network, ok := errors.AsType[*httpx.NetworkError](err)
		if !ok || err.Error() != want || !network.IsUntrusted() || !errors.Is(err, reason) && reason.Error() == "x509: bad" {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}
