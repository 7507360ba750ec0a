package disco_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestAuthorizeWithoutCredentials(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*disco.Client{"no source": {}, "none for the host": {Credentials: &source{host: "sub.example.com"}}} {
		req := request(t, origin)
		if err := c.Authorize(t.Context(), host, req); err != nil || len(req.Header) != 0 {
			t.Errorf("%s: Authorize = %v, header %v", name, err, req.Header)
		}
	}
}

func TestCredentialsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	s := &source{host: host}
	c := &disco.Client{Credentials: s}
	for range 3 {
		testenv.Must(t, c.Authorize(t.Context(), host, request(t, origin)))
		testenv.Must(t, c.Authorize(t.Context(), "none.example.com", request(t, origin)))
	}
	if got := s.asked.Load(); got != 2 {
		t.Errorf("the source was asked %d times, want once for each of 2 hosts", got)
	}
}

func TestCredentialsError(t *testing.T) {
	t.Parallel()
	broken := errors.New("the helper broke")
	c := &disco.Client{Credentials: &source{err: broken}}
	req := request(t, origin)
	err := c.Authorize(t.Context(), host, req)
	if e, ok := errors.AsType[*disco.CredentialsError](err); !ok || e.Host != host || !errors.Is(err, broken) {
		t.Errorf("Authorize = %v, want a *CredentialsError over the source's", err)
	}
	if len(req.Header) != 0 {
		t.Errorf("the request has the header %v", req.Header)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Authorize(ctx, host, req); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled Authorize = %v", err)
	}
}

func TestDiscoveryWithoutReadableCredentials(t *testing.T) {
	t.Parallel()
	broken := errors.New("the helper broke")
	for status, want := range map[int]error{http.StatusOK: nil, http.StatusUnauthorized: broken, http.StatusForbidden: broken} {
		web := webtest.New(t)
		web.Serve(origin, raw(status, "application/json", serviceMap("modules.v1", modulesURL)))
		c := client(web)
		c.Credentials = &source{err: broken}
		_, err := c.ServiceURL(t.Context(), host, "modules.v1")
		if !errors.Is(err, want) {
			t.Errorf("status %d: %v, want %v", status, err, want)
		}
		if want != nil && !strings.Contains(err.Error(), broken.Error()) {
			t.Errorf("status %d: the message %q does not say why nothing was sent", status, err)
		}
	}
}

func TestTokenWithLineBreak(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	c := client(web)
	c.Credentials = Tokens{host: disco.BearerToken(webtest.Canary + "\n")}
	_, err := c.ServiceURL(t.Context(), host, "modules.v1")
	if err == nil || !strings.Contains(err.Error(), "line break") || len(web.Requests()) > 0 {
		t.Errorf("ServiceURL = %v, want an error that names the line break, and no request", err)
		return
	}
	webtest.CheckText(t, err.Error())
}

// TestRedirects checks that the token is sent only to the host itself, and that the service's URL is relative to
// the last one. Package httpx tests where a redirect may lead.
func TestRedirects(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{ // "" if the redirect is refused
		origin + "/moved": modulesURL, "https://other.example.com/moved": "https://other.example.com/v1/modules/",
		"http://example.com/moved": "", "https://127.0.0.1/moved": "", origin + "/forever": "",
	} {
		web := webtest.New(t)
		moved := func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/moved":
				raw(200, "application/json", serviceMap("modules.v1", "/v1/modules/"))(w, r)
			case "/forever":
				http.Redirect(w, r, "/forever", http.StatusFound)
			default:
				http.Redirect(w, r, to, http.StatusFound)
			}
		}
		for _, at := range []string{origin, "https://other.example.com", "https://127.0.0.1", "http://example.com"} {
			web.Serve(at, moved)
		}
		c := client(web)
		c.Credentials = &source{host: host}
		u, err := c.ServiceURL(t.Context(), host, "modules.v1")
		if want != "" && (err != nil || u.String() != want) || want == "" && !errors.Is(err, disco.ErrInvalidAnswer) {
			t.Errorf("%s: ServiceURL = %v, %v, want %q", to, u, err, want)
		}
		web.CheckSecrecy(origin)
		if !webtest.Carried(web.Requests()[0]) {
			t.Error("the host itself did not get the token")
		}
	}
}

func TestBearerTokenIsNotPrinted(t *testing.T) {
	t.Parallel()
	token := disco.BearerToken(webtest.Canary)
	holder := struct {
		Token disco.BearerToken
		Any   any
	}{token, &token}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v", "%10.3s"} {
		for _, value := range []any{token, &token, holder, []any{token}, map[disco.BearerToken]disco.BearerToken{token: token}} {
			text := fmt.Sprintf(verb, value)
			webtest.CheckText(t, text)
			if strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", webtest.Canary)) {
				t.Errorf("Sprintf(%q, %T) = %q", verb, value, text)
			}
		}
	}
	webtest.CheckText(t, token.String()+fmt.Errorf("%w", errors.New(fmt.Sprint(token))).Error())
	text, err := json.Marshal(holder)
	testenv.Must(t, err)
	webtest.CheckText(t, string(text))
	req := request(t, origin)
	token.PrepareRequest(req)
	if got := req.Header.Get("Authorization"); got != "Bearer "+webtest.Canary {
		t.Errorf("Authorization = %q", got)
	}
}

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
	testenv.Must(t, c.Authorize(ctx, host, req))
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
		"https://elsewhere.test": {"Bearer t", "Bearer t"}, // the URL from discovery
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
			testenv.Must(t, c.Authorize(t.Context(), host, req))
			if got := req.Header.Get("Authorization"); got != want {
				t.Errorf("with LoopbackHTTP = %v, Authorize(%q) sets %q, want %q", on, url, got, want)
			}
		}
	}
}

// TestForcedLoopback checks which requests by http get the token of a host whose services the user has set: only those
// below their URLs, on this machine.
func TestForcedLoopback(t *testing.T) {
	t.Parallel()
	c := &disco.Client{
		Credentials: &rotated{tokens: []string{"t"}},
		ForcedServices: map[addrs.Hostname]map[string]any{
			host: {
				"providers.v1": "http://127.0.0.1:5000/v1/providers/registry.example.com", "modules.v1": "http://localhost:5000/",
				"other.v1": "http://example.com/", "none.v1": 1, "bad.v1": "http://[",
			},
			"other.example.com": {"modules.v1": "http://127.0.0.1:6000/"},
		},
	}
	for url, sent := range map[string]bool{
		"http://127.0.0.1:5000/v1/providers/registry.example.com/acme/cloud/versions": true,
		"http://localhost:5000/acme/net/aws/versions":                                 true,
		"http://127.0.0.1:5000/v1/providers/registry.example.community/x":             false,
		"http://127.0.0.1:5000/v1/providers/registry.example.com/../../x":             false,
		"http://127.0.0.1:5000/x":                                                     false,
		"http://127.0.0.1:6000/x":                                                     false, // another host's
		"http://127.0.0.1:5001/v1/providers/registry.example.com/x":                   false,
		"http://[::1]:5000/x":                                                         false,
		"http://example.com/x":                                                        false,
	} {
		req := request(t, url)
		testenv.Must(t, c.Authorize(t.Context(), host, req))
		if got := req.Header.Get("Authorization") != ""; got != sent {
			t.Errorf("Authorize(%q) adds the token: %v, want %v", url, got, sent)
		}
	}
	// A redirect away from the service loses it.
	web := webtest.New(t)
	web.Serve("http://127.0.0.1:5000", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:5001/", http.StatusFound)
	})
	web.Serve("http://127.0.0.1:5001", raw(http.StatusOK, "application/json", "{}"))
	req := request(t, "http://127.0.0.1:5000/v1/providers/registry.example.com/x")
	testenv.Must(t, c.Authorize(t.Context(), host, req))
	err := (&httpx.Client{HTTP: web.Client(), MaxRedirects: 1}).Do(req, func(*httpx.Response) error { return nil })
	if err != nil || len(web.Requests()) != 2 || web.Requests()[1].Header.Get("Authorization") != "" {
		t.Errorf("after a redirect: %v, %d requests", err, len(web.Requests()))
	}
}
