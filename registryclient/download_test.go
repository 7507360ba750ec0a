package registryclient_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/registryclient"
)

func hosted(url string, useCredentials bool) registryclient.Location {
	return registryclient.Location{Source: remote(url, ""), Direct: true, UseCredentials: useCredentials}
}

func TestDownload(t *testing.T) {
	t.Parallel()
	const archive = "PK the bytes"
	var accept, encoding string
	web := serve(t, func(w http.ResponseWriter, r *http.Request) {
		accept, encoding = r.Header.Get("Accept"), r.Header.Get("Accept-Encoding")
		_, _ = io.WriteString(w, archive)
	})
	var got bytes.Buffer
	testenv.Must(t, client(web).Download(t.Context(), pkg, hosted(origin+"/a//b?c=d", false), &got))
	if got.String() != archive {
		t.Errorf("Download = %q, want %q", &got, archive)
	}
	if !strings.Contains(accept, "application/zip") || encoding != "identity" {
		t.Errorf("Accept = %q, Accept-Encoding = %q", accept, encoding)
	}
	if got := web.Requests()[0].RequestURI; got != "/a//b?c=d" {
		t.Errorf("asked for %q, want the URL to the letter", got)
	}
}

func TestFailedDownloads(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer http.HandlerFunc
		want   error
	}{
		"404":   {answer(404, "", ""), registryclient.ErrNotFound},
		"401":   {answer(401, "", ""), registryclient.ErrUnauthorized},
		"206":   {answer(206, "", "part"), registryclient.ErrUnexpectedStatus},
		"204":   {answer(204, "", ""), registryclient.ErrUnexpectedStatus},
		"503":   {answer(503, "", ""), registryclient.ErrUnexpectedStatus},
		"empty": {answer(200, "", ""), registryclient.ErrInvalidAnswer},
		"empty, chunked": {func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
		}, registryclient.ErrInvalidAnswer},
		"other encoding": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, "x")
		}, registryclient.ErrInvalidAnswer},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "90")
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, io.ErrUnexpectedEOF},
		"cut, chunked": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, io.ErrUnexpectedEOF},
		"until the connection closes": {hijack("HTTP/1.0 200 OK\r\n\r\nhalf"), registryclient.ErrInvalidAnswer},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := client(serve(t, test.answer))
			c.MaxDownload = 100
			err := c.Download(t.Context(), pkg, hosted(origin+"/x.zip?sig="+webtest.Canary, true), io.Discard)
			if e, ok := errors.AsType[*registryclient.RequestError](err); !ok || !errors.Is(err, test.want) || e.Package != pkg {
				t.Fatalf("Download = %v, want %v", err, test.want)
			}
			webtest.CheckText(t, err.Error())
		})
	}
}

func TestDownloadLimit(t *testing.T) {
	t.Parallel()
	const content = 101
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		size   int64 // that is known
	}{
		"with a length": {text(strings.Repeat("x", content)), content},
		"chunked": {func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, strings.Repeat("x", content))
		}, 0},
	} {
		c := client(serve(t, test.answer))
		c.MaxDownload = content - 1
		err := c.Download(t.Context(), pkg, hosted(origin+"/x.zip", true), io.Discard)
		want := &packagelimits.Error{Limit: packagelimits.OfDownload, Size: test.size, Max: content - 1}
		over, _ := errors.AsType[*packagelimits.Error](err)
		if diff := cmp.Diff(want, over); diff != "" || !errors.As(err, new(*registryclient.RequestError)) {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		c.MaxDownload = content
		if err := c.Download(t.Context(), pkg, hosted(origin+"/x.zip", true), io.Discard); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func hijack(raw string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, raw)
	}
}

func TestDownloadIsRepeatedUntilItBegins(t *testing.T) {
	t.Parallel()
	requests := 0
	c := client(serve(t, func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "x")
	}))
	var got bytes.Buffer
	if err := c.Download(t.Context(), pkg, hosted(origin+"/x.zip", false), &got); err != nil || got.String() != "x" {
		t.Errorf("Download = %q, %v", &got, err)
	}
}

func TestDownloadOfWhatIsNotHosted(t *testing.T) {
	t.Parallel()
	for _, loc := range []registryclient.Location{
		{},
		{Source: remote("https://example.com/x.zip", "")},
		hosted("http://example.com/x.zip", true),
		hosted("http://example.com/x.zip", false),
		hosted("https://127.0.0.1/x.zip", false),
		hosted("https://169.254.169.254/", false),
		hosted("file:///etc/passwd", true),
		hosted("https://[", true),
	} {
		web := serve(t, text("x"))
		err := client(web).Download(t.Context(), pkg, loc, io.Discard)
		if _, ok := errors.AsType[*registryclient.RequestError](err); !ok || len(web.Requests()) > 0 {
			t.Errorf("Download(%+v) = %v, want *RequestError and no request", loc, err)
		}
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestDownloadToABrokenWriter(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	c := client(serve(t, text("x")))
	if err := c.Download(t.Context(), pkg, hosted(origin+"/x.zip", false), brokenWriter{full}); !errors.Is(err, full) {
		t.Errorf("Download = %v, want the writer's error", err)
	}
}

func TestCanceledDownload(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the user has left")
	c := client(serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "x")
		_ = http.NewResponseController(w).Flush()
		cancel(cause)
		<-r.Context().Done()
	}))
	if err := c.Download(ctx, pkg, hosted(origin+"/x.zip", false), io.Discard); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
		t.Errorf("Download = %v, want context.Canceled and its cause", err)
	}
}

// TestCredentialsOfDownloads checks that the token is sent only to the host that it belongs to,
// and only if the location allows it.
func TestCredentialsOfDownloads(t *testing.T) {
	t.Parallel()
	for url, wants := range map[string]bool{
		origin + "/x.zip":                 true,
		origin + ":443/x.zip":             true,
		"https://example.com:8443/x.zip":  false,
		"https://cdn.example.com/x.zip":   false,
		"https://other.example.com/x.zip": false,
	} {
		for _, asked := range []bool{true, false} {
			web := serve(t, text("x"))
			for _, other := range []string{"https://example.com:8443", "https://cdn.example.com", "https://other.example.com"} {
				web.Serve(other, text("x"))
			}
			c := client(web)
			c.Services = services{base: base, token: webtest.Canary}
			if err := c.Download(t.Context(), pkg, hosted(url, asked), io.Discard); err != nil {
				t.Errorf("%s: %v", url, err)
			}
			if got := webtest.Carried(web.Requests()[0]); got != (wants && asked) {
				t.Errorf("%s, credentials asked for: %v, sent: %v", url, asked, got)
			}
		}
	}
}

// Who gave a location decides whether it may be on this machine. Without an Origin, it is the
// registry's host.
func TestDownloadFromThisMachine(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "PK") }))
	t.Cleanup(server.Close)
	here := pkg
	here.Host = addrs.Hostname(strings.TrimPrefix(server.URL, "http://"))
	for name, test := range map[string]struct {
		pkg    addrs.ModuleRegistryPackage
		origin string
		ok     bool
	}{
		"no origin":                             {pkg, "", false},
		"an origin elsewhere":                   {pkg, "https://registry.example.com/v1/modules/", false},
		"an origin on this machine":             {pkg, server.URL + "/v1/modules/", true},
		"no origin, a registry on this machine": {here, "", true},
		"a registry here, an origin elsewhere":  {here, "https://registry.example.com/v1/modules/", false},
	} {
		loc := hosted(server.URL+"/x.zip", false)
		loc.Origin = test.origin
		var got bytes.Buffer
		err := (&registryclient.Client{Attempts: 1}).Download(t.Context(), test.pkg, loc, &got)
		if (err == nil) != test.ok || test.ok && got.String() != "PK" {
			t.Errorf("%s: Download = %q, %v", name, &got, err)
		}
	}
}

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
	if n := len(web.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}
