package registryclient_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/registryclient"
)

// next is a source of credentials whose token changes with each question.
type next struct{ tokens []string }

func (n *next) ForHost(context.Context, addrs.Hostname) (disco.Credentials, error) {
	token := n.tokens[0]
	if len(n.tokens) > 1 {
		n.tokens = n.tokens[1:]
	}
	return disco.BearerToken(token), nil
}

func forced(web *http.Client, at string, tokens ...string) *registryclient.Client {
	services := &disco.Client{
		HTTPClient: web, Credentials: &next{tokens},
		ForcedServices: map[addrs.Hostname]map[string]any{pkg.Host: {"modules.v1": at}},
	}
	return &registryclient.Client{Services: services, HTTPClient: web, RetryWait: 1}
}

func wantsToken(token string, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h(w, r)
	}
}

const oneVersion = `{"modules": [{"versions": [{"version": "1.0.0"}]}]}`

func TestRenewedToken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tokens   []string
		requests int
		good     bool
	}{
		"renewed":   {[]string{"old", "new"}, 2, true},
		"the same":  {[]string{"old"}, 1, false},
		"both old":  {[]string{"old", "older"}, 2, false},
		"too late":  {[]string{"old", "older", "new"}, 2, false},
		"at once":   {[]string{"new"}, 1, true},
		"then none": {[]string{"new", "old"}, 1, true},
	} {
		web := serve(t, wantsToken("new", text(oneVersion)))
		c := forced(web.Client(), base, test.tokens...)
		_, err := c.ModuleVersions(t.Context(), pkg)
		if test.good != (err == nil) || len(web.Requests()) != test.requests {
			t.Errorf("%s: ModuleVersions = %v after %d requests, want %d", name, err, len(web.Requests()), test.requests)
		}
		web = serve(t, wantsToken("new", text("PK")))
		c = forced(web.Client(), base, test.tokens...)
		err = c.Download(t.Context(), pkg, hosted(origin+"/a.zip", true), io.Discard)
		if test.good != (err == nil) || len(web.Requests()) != test.requests {
			t.Errorf("%s: Download = %v after %d requests, want %d", name, err, len(web.Requests()), test.requests)
		}
	}
}

// TestTokenOnLoopback checks that a token is sent by http only if that is allowed.
func TestTokenOnLoopback(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(wantsToken("t", text(oneVersion)))
	t.Cleanup(server.Close)
	for _, allowed := range []bool{false, true} {
		c := forced(server.Client(), server.URL+"/v1/", "t")
		c.Services.(*disco.Client).LoopbackHTTP = allowed
		if _, err := c.ModuleVersions(t.Context(), pkg); allowed != (err == nil) {
			t.Errorf("with LoopbackHTTP = %v, ModuleVersions = %v", allowed, err)
		}
	}
}

func TestFresh(t *testing.T) {
	t.Parallel()
	web := serve(t, text(oneVersion))
	c := client(web)
	for i, c := range []*registryclient.Client{c, c, c.Fresh()} {
		if _, err := c.ModuleVersions(t.Context(), pkg); err != nil {
			t.Fatal(err)
		}
		if want := 1 + i/2; len(web.Requests()) != want {
			t.Errorf("after question %d: %d requests, want %d", i, len(web.Requests()), want)
		}
	}
}

// TestDownloadWithoutDiscovery downloads an archive that needs no credentials.
func TestDownloadWithoutDiscovery(t *testing.T) {
	t.Parallel()
	web := serve(t, text("PK"))
	var got bytes.Buffer
	c := &registryclient.Client{HTTPClient: web.Client(), RetryWait: 1} // no Services
	if err := c.Download(t.Context(), pkg, hosted(origin+"/a.zip", false), &got); err != nil || got.String() != "PK" {
		t.Errorf("Download = %v, %q", err, &got)
	}
	if err := c.Download(t.Context(), pkg, hosted(origin+"/a.zip", true), io.Discard); err == nil {
		t.Error("Download with credentials needs Services, but succeeded")
	}
	for _, refused := range []string{"https://127.0.0.1/a.zip", "http://example.com/a.zip", "https://169.254.169.254/"} {
		if err := c.Download(t.Context(), pkg, hosted(refused, false), io.Discard); err == nil {
			t.Errorf("Download from %s succeeded", refused)
		}
	}
	if n := len(web.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}
