package disco_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/internal/httpx/webtest"
)

func TestAuthorize(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url  string
		want string
	}{
		{"https://example.com/x", "Bearer " + webtest.Canary},
		{"https://elsewhere.example.com/x", "Bearer " + webtest.Canary}, // the URL from discovery
		{"http://example.com/x", ""},
		{"http://127.0.0.1/x", ""},
	}
	for _, test := range tests {
		c := &disco.Client{Credentials: &source{host: host}}
		req := request(t, test.url)
		if err := c.Authorize(t.Context(), host, req); err != nil {
			t.Errorf("Authorize(%q) = %v", test.url, err)
		}
		if got := req.Header.Get("Authorization"); got != test.want {
			t.Errorf("Authorize(%q) sets %q, want %q", test.url, got, test.want)
		}
	}
}

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
		if err := c.Authorize(t.Context(), host, request(t, origin)); err != nil {
			t.Fatal(err)
		}
		if err := c.Authorize(t.Context(), "none.example.com", request(t, origin)); err != nil {
			t.Fatal(err)
		}
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

// TestRedirects checks that the token is sent only to the host itself.
func TestRedirects(t *testing.T) {
	t.Parallel()
	targets := map[string]bool{ // whether they are followed
		origin + "/moved":                 true,
		"https://example.com:8443/moved":  true,
		"https://sub.example.com/moved":   true,
		"https://other.example.com/moved": true,
		"https://127.0.0.1/moved":         false,
		"https://169.254.169.254/moved":   false,
		"http://example.com/moved":        false,
		"http://127.0.0.1/moved":          false,
		"http://169.254.169.254/moved":    false,
		"file:///etc/passwd":              false,
		"https://sub.example.com/forever": false,
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		for to, followed := range targets {
			t.Run(fmt.Sprint(status, " ", to), func(t *testing.T) {
				t.Parallel()
				web := webtest.New(t)
				moved := func(w http.ResponseWriter, r *http.Request) {
					switch r.URL.Path {
					case "/moved":
						raw(200, "application/json", serviceMap("modules.v1", modulesURL))(w, r)
					case "/forever":
						http.Redirect(w, r, "/forever", status)
					default:
						http.Redirect(w, r, to, status)
					}
				}
				for _, at := range []string{origin, "https://example.com:8443", "https://sub.example.com", "https://other.example.com", "https://127.0.0.1", "http://example.com", "http://127.0.0.1"} {
					web.Serve(at, moved)
				}
				c := client(web)
				c.Credentials = &source{host: host}
				_, err := c.ServiceURL(t.Context(), host, "modules.v1")
				if followed && err != nil || !followed && !errors.Is(err, disco.ErrInvalidAnswer) {
					t.Errorf("ServiceURL = %v, want followed = %v", err, followed)
				}
				web.CheckSecrecy(origin)
				if !webtest.Carried(web.Requests()[0]) {
					t.Error("the host itself did not get the token")
				}
			})
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
	if err != nil {
		t.Fatal(err)
	}
	webtest.CheckText(t, string(text))
	req := request(t, origin)
	token.PrepareRequest(req)
	if got := req.Header.Get("Authorization"); got != "Bearer "+webtest.Canary {
		t.Errorf("Authorization = %q", got)
	}
}
