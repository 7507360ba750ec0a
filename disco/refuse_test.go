package disco_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
)

func raw(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// TestAnswers has the kinds of answers. Package internal/hostile has more documents.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const asJSON = "application/json"
	good := serviceMap("modules.v1", modulesURL)
	tests := map[string]struct {
		answer http.HandlerFunc
		want   error // nil means success
	}{
		"good":               {raw(200, asJSON, good), nil},
		"parameters":         {raw(200, asJSON+"; charset=utf-8", good), nil},
		"upper case type":    {raw(200, "Application/JSON", good), nil},
		"exactly 1 MiB":      {raw(200, asJSON, good+strings.Repeat(" ", 1<<20-len(good))), nil},
		"404":                {raw(404, asJSON, good), disco.ErrNoServices},
		"empty object":       {raw(200, asJSON, "{}"), disco.ErrServiceNotProvided},
		"null":               {raw(200, asJSON, "null"), disco.ErrServiceNotProvided},
		"another service":    {raw(200, asJSON, serviceMap("modulesx.v1", "/")), disco.ErrServiceNotProvided},
		"newer version":      {raw(200, asJSON, serviceMap("modules.v2", "/")), disco.ErrVersionNotSupported},
		"number":             {raw(200, asJSON, `{"modules.v1": 1}`), disco.ErrVersionNotSupported},
		"204":                {raw(204, asJSON, ""), disco.ErrInvalidAnswer},
		"401":                {raw(401, asJSON, ""), disco.ErrInvalidAnswer},
		"500":                {raw(500, asJSON, ""), disco.ErrUnreachable},
		"429":                {raw(429, asJSON, ""), disco.ErrUnreachable},
		"trailing garbage":   {raw(200, asJSON, good+"}"), disco.ErrInvalidAnswer},
		"over 1 MiB":         {raw(200, asJSON, good+strings.Repeat(" ", 1<<20)), disco.ErrInvalidAnswer},
		"no type":            {raw(200, "", good), disco.ErrInvalidAnswer},
		"HTML":               {raw(200, "text/html", "<html>"), disco.ErrInvalidAnswer},
		"longer type":        {raw(200, "application/json-seq", good), disco.ErrInvalidAnswer},
		"control characters": {raw(200, "text/\u202ex\u0080", good), disco.ErrInvalidAnswer},
		"credentials in URL": {raw(200, asJSON, serviceMap("modules.v1", "https://"+webtest.Canary+"@example.com/")), disco.ErrInvalidAnswer},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := webtest.New(t)
			web.Serve(origin, test.answer)
			_, err := client(web).ServiceURL(t.Context(), host, "modules.v1")
			if !errors.Is(err, test.want) {
				t.Fatalf("ServiceURL = %v, want %v", err, test.want)
			}
			if err == nil {
				return
			}
			webtest.CheckText(t, err.Error())
			if !strings.Contains(err.Error(), origin+wellKnown) {
				t.Errorf("%q does not say what was tried", err)
			}
		})
	}
}

func TestChunkedBodyIsNotCut(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve(origin, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = http.NewResponseController(w).Flush()
		// The first 1 MiB of this answer would be a valid document.
		_, _ = fmt.Fprint(w, serviceMap("modules.v1", modulesURL), strings.Repeat(" ", 1<<20), "garbage")
	})
	if _, err := client(web).ServiceURL(t.Context(), host, "modules.v1"); !errors.Is(err, disco.ErrInvalidAnswer) {
		t.Errorf("ServiceURL = %v, want ErrInvalidAnswer", err)
	}
}

func TestPlainHTTPOnLoopback(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve("https://127.0.0.1:8443", document(serviceMap("modules.v1", "http://127.0.0.1:8000/v1")))
	u, err := client(web).ServiceURL(t.Context(), "127.0.0.1:8443", "modules.v1")
	if err != nil || u.String() != "http://127.0.0.1:8000/v1/" {
		t.Errorf("ServiceURL = %v, %v", u, err)
	}
	// A name below localhost is resolved like others.
	web.Serve("https://registry.localhost", document(serviceMap("modules.v1", "http://127.0.0.1:8000/v1")))
	if u, err := client(web).ServiceURL(t.Context(), "registry.localhost", "modules.v1"); !errors.Is(err, disco.ErrInvalidAnswer) {
		t.Errorf("ServiceURL = %v, %v, want ErrInvalidAnswer", u, err)
	}
}

func TestHostsThatNobodyParsed(t *testing.T) {
	t.Parallel()
	for _, h := range []addrs.Hostname{"", "a/b", "a@b", "a\nb", "a b", "a?b", "a#b", ":80", "a:b", "xn--zzzzzz-", "[::1]", "h:80/x"} {
		web := webtest.New(t)
		_, err := client(web).ServiceURL(t.Context(), h, "modules.v1")
		if _, ok := errors.AsType[*disco.DiscoveryError](err); !ok {
			t.Errorf("ServiceURL(%q) = %v, want *DiscoveryError", h, err)
			continue
		}
		if strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("the error %q has a line break", err)
		}
	}
}

func TestServiceIDs(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve(origin, document(serviceMap("modules.v1", modulesURL)))
	c := client(web)
	for _, id := range []string{"", "modules", "modules.1", "modules.vx"} {
		if _, err := c.ServiceURL(t.Context(), host, id); err == nil {
			t.Errorf("ServiceURL(%q): no error", id)
		}
	}
}

func TestUntrustedCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(document(serviceMap("modules.v1", modulesURL)))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	c := &disco.Client{HTTPClient: &http.Client{Transport: new(http.Transport)}}
	_, err := c.ServiceURL(t.Context(), addrs.Hostname(server.Listener.Addr().String()), "modules.v1")
	if !errors.Is(err, disco.ErrUntrusted) || errors.Is(err, disco.ErrUnreachable) || !strings.Contains(err.Error(), "signed by an unknown authority") {
		t.Errorf("ServiceURL = %v, want ErrUntrusted and the reason", err)
	}
}

func FuzzDocument(f *testing.F) {
	for _, seed := range []string{
		`{"modules.v1": "/v1/modules/"}`, `{"modules.v1": "https://h:1/a?b#c"}`, `{"modules.v1": "http://127.0.0.1"}`,
		`{"modules.v2": "/"}`, `{"modules.v1": {}}`, `{"a":1,"a":2}`, `[]`, `null`, ``, `{`, `{"modules.v1": "//[::1%25x]/"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := &disco.Client{HTTPClient: webtest.Fixed(http.Header{"Content-Type": {"application/json"}}, text)}
		u, err := c.ServiceURL(t.Context(), host, "modules.v1")
		if err != nil {
			if _, ok := errors.AsType[*disco.DiscoveryError](err); !ok {
				t.Errorf("ServiceURL = %v, want *DiscoveryError", err)
			}
			webtest.CheckText(t, err.Error())
			return
		}
		if u.Scheme != "https" || u.Host == "" || u.User != nil || !strings.HasSuffix(u.Path, "/") {
			t.Errorf("ServiceURL = %q", u)
		}
	})
}

func TestZeroValues(t *testing.T) {
	t.Parallel()
	c := &disco.Client{HTTPClient: webtest.New(t).Client()}
	if _, err := c.ServiceURL(t.Context(), "", ""); err == nil {
		t.Error("ServiceURL of no host succeeded")
	}
	req := &http.Request{URL: request(t, origin).URL, Header: http.Header{}}
	if err := c.Authorize(t.Context(), "", req); err != nil || c.Refused(t.Context(), "", req) {
		t.Errorf("Authorize = %v, or Refused = true", err)
	}
	_ = c.Fresh()
}
