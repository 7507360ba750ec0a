package getmodules_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/modtest"
)

// credentials returns a function that always supplies c and records what it was asked for.
func credentials(c getmodules.OCICredential, asked *[]string) getmodules.OCICredentials {
	return func(_ context.Context, host, repository string) (getmodules.OCICredential, error) {
		*asked = append(*asked, host+" "+repository)
		return c, nil
	}
}

func TestOCIAuthentication(t *testing.T) {
	t.Parallel()
	closed := modtest.Options{OCIUser: "user", OCIPassword: "hunter2"}
	open, tokens := modtest.Options{OCIBearer: true}, modtest.Options{OCIBearer: true, OCIUser: "user", OCIPassword: "hunter2"}
	right := getmodules.OCICredential{Username: "user", Password: "hunter2"}
	wrong := getmodules.OCICredential{Username: "user", Password: "hunter22"}
	const manifest, token, blob = "GET /v2/net/manifests/latest", "GET /oci/token?scope=repository%3Anet%3Apull&service=modtest", "GET /v2/net/blobs/"
	tests := []struct {
		name       string
		opts       modtest.Options
		credential getmodules.OCICredential
		want       error
		asked      []string
	}{
		{"a password that nobody asks for", modtest.Options{}, right, nil, []string{manifest, blob}},
		{"basic", closed, right, nil, []string{manifest, manifest, blob}},
		{"basic, none", closed, getmodules.OCICredential{}, getmodules.ErrAuthentication, []string{manifest}},
		{"basic, wrong", closed, wrong, getmodules.ErrAuthentication, []string{manifest, manifest}},
		{"token for everyone", open, getmodules.OCICredential{}, nil, []string{manifest, token, manifest, blob}},
		{"token", tokens, right, nil, []string{manifest, token, manifest, blob}},
		{"token, none", tokens, getmodules.OCICredential{}, getmodules.ErrAuthentication, []string{manifest, token}},
		{"token, wrong", tokens, wrong, getmodules.ErrAuthentication, []string{manifest, token}},
		{"refresh token", tokens, getmodules.OCICredential{RefreshToken: "hunter2"}, nil, []string{manifest, "POST /oci/token", manifest, blob}},
		{"refresh token, wrong", tokens, getmodules.OCICredential{RefreshToken: "hunter22"}, getmodules.ErrAuthentication, []string{manifest, "POST /oci/token"}},
		{"access token, wrong", tokens, getmodules.OCICredential{AccessToken: "hunter22"}, getmodules.ErrAuthentication, []string{manifest, manifest}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			world := modtest.NewWith(t, modtest.Txtar(ociTree), test.opts)
			f := newOCIFetcher(world)
			var lookups []string
			f.OCICredentials = credentials(test.credential, &lookups)
			_, _, err := fetchURL(t, f, world.OCISource("net", ""))
			if !errors.Is(err, test.want) {
				t.Errorf("error is %v, want %v", err, test.want)
			}
			if diff := cmp.Diff(test.asked, asked(world)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if world.Requests()[0].Header.Get("Authorization") != "" {
				t.Error("credentials went out before anybody asked for them")
			}
			for _, lookup := range lookups {
				if want := string(world.Host()) + " net"; lookup != want {
					t.Errorf("credentials were looked up for %q, want %q", lookup, want)
				}
			}
		})
	}
}

func TestOCICredentialsFail(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(ociTree), modtest.Options{OCIBearer: true})
	broken := errors.New("the credential helper is broken")
	f := newOCIFetcher(world)
	f.OCICredentials = func(context.Context, string, string) (getmodules.OCICredential, error) {
		return getmodules.OCICredential{}, broken
	}
	if _, _, err := fetchURL(t, f, world.OCISource("net", "")); !errors.Is(err, broken) || !errors.Is(err, getmodules.ErrAuthentication) {
		t.Errorf("error is %v, want %v and ErrAuthentication", err, broken)
	}
	f.OCICredentials = nil
	if _, _, err := fetchURL(t, f, world.OCISource("net", "")); err != nil {
		t.Errorf("without any: %v", err)
	}
}

// TestOCIRealm uses challenges whose realm must not be trusted. Credentials must never be
// sent there. Without credentials, no request may be sent to a realm on this machine or
// without TLS.
func TestOCIRealm(t *testing.T) {
	t.Parallel()
	const stranger = "https://192.0.2.1/token" // may be asked without credentials
	for _, realm := range []string{
		"http://MODTEST_HOST/oci/token", "http://169.254.169.254/", "https://169.254.169.254/token", "https://10.0.0.1/token", "https://[::1]/token",
		"//MODTEST_HOST/oci/token", "file:///etc/passwd", "MODTEST_HOST/oci/token", "", "https://u:hunter2@MODTEST_HOST/oci/token", stranger,
	} {
		for _, c := range []getmodules.OCICredential{{}, {Username: "user", Password: "hunter2"}, {RefreshToken: "hunter2"}} {
			if realm == stranger && c == (getmodules.OCICredential{}) {
				continue
			}
			world := modtest.New(t, modtest.Txtar(ociTree))
			world.SetFaults(modtest.Fault{Path: "/v2/", Status: 401, Header: http.Header{
				"Www-Authenticate": {fmt.Sprintf(`Bearer realm=%q,service="s",scope="repository:net:pull"`, realm)},
			}})
			f := newOCIFetcher(world)
			f.OCICredentials = credentials(c, new([]string))
			_, _, err := fetchURL(t, f, world.OCISource("net", ""))
			if err == nil || realm == stranger && !errors.Is(err, getmodules.ErrRefusedLocation) {
				t.Errorf("%q: %v, want an error", realm, err)
			}
			for _, r := range world.Requests() {
				if r.Header.Get("Authorization") != "" || r.Path == "/oci/token" {
					t.Errorf("%q: %v was sent", realm, r)
				}
			}
		}
	}
}

// TestOCITokenRedirect checks that redirects of a token service are refused. Real token
// services do not redirect.
func TestOCITokenRedirect(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(ociTree), modtest.Options{OCIBearer: true, OCIUser: "user", OCIPassword: "hunter2"})
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, c := range []getmodules.OCICredential{{Username: "user", Password: "hunter2"}, {RefreshToken: "hunter2"}} {
			world.ResetRequests()
			world.SetFaults(modtest.Fault{Path: "/oci/token", Status: status, Header: http.Header{"Location": {"https://MODTEST_HOST/files/token"}}})
			f := newOCIFetcher(world)
			f.OCICredentials = credentials(c, new([]string))
			if _, _, err := fetchURL(t, f, world.OCISource("net", "")); !errors.Is(err, getmodules.ErrRefusedLocation) || len(world.Requests()) != 2 {
				t.Errorf("%d: error is %v, want ErrRefusedLocation; requests %v", status, err, world.Requests())
			}
		}
	}
}

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
