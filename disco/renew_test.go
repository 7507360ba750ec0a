package disco_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/internal/httpx/webtest"
	"github.com/cotterpin/cotter/internal/singleflight"
)

// rotated is a source whose token changes each time it is asked, up to the last one.
type rotated struct {
	mu     sync.Mutex
	tokens []string
	asked  int
}

func (r *rotated) ForHost(context.Context, addrs.Hostname) (disco.Credentials, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	token := r.tokens[min(r.asked, len(r.tokens)-1)]
	r.asked++
	return disco.BearerToken(token), nil
}

func authorized(ctx context.Context, t *testing.T, c *disco.Client) *http.Request {
	t.Helper()
	req := request(t, origin)
	if err := c.Authorize(ctx, host, req); err != nil {
		t.Fatal(err)
	}
	return req
}

func TestRefusedTokenIsRenewed(t *testing.T) {
	t.Parallel()
	source := &rotated{tokens: []string{"old", "new"}}
	c := &disco.Client{Credentials: source}
	req := authorized(t.Context(), t, c)
	for range 3 { // many requests are refused at once
		if !c.Refused(t.Context(), host, req) {
			t.Error("Refused = false after the token has changed")
		}
	}
	if got := authorized(t.Context(), t, c).Header.Get("Authorization"); got != "Bearer new" || source.asked != 2 {
		t.Errorf("Authorize sets %q after %d questions to the source, want the new token after 2", got, source.asked)
	}
	if c.Refused(t.Context(), host, authorized(t.Context(), t, c)) {
		t.Error("Refused = true for a token that has not changed")
	}
}

func TestDiscoveryWithRenewedToken(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve(origin, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer new" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		document(serviceMap("modules.v1", modulesURL))(w, r)
	})
	c := client(web)
	c.Credentials = &rotated{tokens: []string{"old", "new"}}
	if _, err := c.ServiceURL(t.Context(), host, "modules.v1"); err != nil || len(web.Requests()) != 2 {
		t.Errorf("ServiceURL = %v after %d requests, want success after 2", err, len(web.Requests()))
	}
}

// TestMemory checks how long documents and credentials are remembered.
func TestMemory(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve(origin, document(serviceMap("modules.v1", modulesURL)))
	source := &rotated{tokens: []string{"t"}}
	c := client(web)
	c.Credentials = source
	ask := func(c *disco.Client, ctx context.Context) {
		if _, err := c.ServiceURL(ctx, host, "modules.v1"); err != nil {
			t.Error(err)
		}
	}
	var run singleflight.Memory
	for i, step := range []struct {
		client *disco.Client
		ctx    context.Context
		want   int // requests and questions so far
	}{
		{c, t.Context(), 1},
		{c, t.Context(), 1},
		{c, run.In(t.Context()), 2},
		{c, run.In(t.Context()), 2},
		{c, new(singleflight.Memory).In(t.Context()), 3},
		{c.Fresh(), t.Context(), 4},
	} {
		ask(step.client, step.ctx)
		if got := len(web.Requests()); got != step.want || source.asked != step.want {
			t.Errorf("step %d: %d requests, %d questions for credentials, want %d", i, got, source.asked, step.want)
		}
	}
}

func TestLoopbackHTTP(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ off, on string }{
		"https://example.com/x":  {"Bearer t", "Bearer t"},
		"http://127.0.0.1:80/x":  {"", "Bearer t"},
		"http://localhost/x":     {"", "Bearer t"},
		"http://[::1]:8080/x":    {"", "Bearer t"},
		"http://example.com/x":   {"", ""},
		"http://10.0.0.1/x":      {"", ""},
		"http://0.0.0.0.nip.io/": {"", ""},
	}
	for url, want := range tests {
		for on, want := range map[bool]string{false: want.off, true: want.on} {
			c := &disco.Client{Credentials: &rotated{tokens: []string{"t"}}, LoopbackHTTP: on}
			req := request(t, url)
			if err := c.Authorize(t.Context(), host, req); err != nil {
				t.Fatal(err)
			}
			if got := req.Header.Get("Authorization"); got != want {
				t.Errorf("with LoopbackHTTP = %v, Authorize(%q) sets %q, want %q", on, url, got, want)
			}
		}
	}
}
