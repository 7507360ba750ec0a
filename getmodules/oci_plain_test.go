package getmodules_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/modtest"
)

// plainRegistry starts a registry that speaks only http, and names absolute locations for uploads, as
// many do. It returns its address, and fails the test if a request has credentials.
func plainRegistry(t *testing.T) string {
	t.Helper()
	world := modtest.New(t, modtest.Txtar(ociTree))
	behind := &url.URL{Scheme: "https", Host: string(world.Host())}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			if r.In.Header.Get("Authorization") != "" {
				t.Error("a request over http has credentials")
			}
			r.SetURL(behind)
		},
		Transport: world.HTTPClient().Transport,
		ModifyResponse: func(answer *http.Response) error {
			if at, err := answer.Location(); err == nil {
				at.Scheme, at.Host = "http", answer.Request.Header.Get("X-Plain-Host")
				answer.Header.Set("Location", at.String())
			}
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Plain-Host", r.Host)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// TestOCIPlainHTTP checks that a registry on this machine is asked over http if it does not speak
// https, another one only if the user says so, and that it gets no credentials.
func TestOCIPlainHTTP(t *testing.T) {
	t.Parallel()
	const lab = "registry.lab.example:5000"
	for _, test := range []struct {
		name  string
		host  string // "" for the address on this machine
		plain []string
		fails bool
	}{
		{"on this machine", "", nil, false},
		{"elsewhere", lab, nil, true},
		{"elsewhere, and another is allowed", lab, []string{"registry.lab.example"}, true},
		{"elsewhere, as the user says", lab, []string{lab}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			address := plainRegistry(t)
			f := newHTTPFetcher()
			f.PlainHTTP = test.plain
			f.HTTPClient = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, address)
			}}}
			f.OCICredentials = func(context.Context, string, string) (getmodules.OCICredential, error) {
				return getmodules.OCICredential{Username: "u", Password: "p"}, nil
			}
			host := test.host
			if host == "" {
				host = address
			}
			if err := pushAll(t, f, host); (err != nil) != test.fails {
				t.Errorf("push and fetch: %v, want an error: %t", err, test.fails)
			}
		})
	}
}
