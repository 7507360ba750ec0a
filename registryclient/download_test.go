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

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx/webtest"
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
	if err := client(web).Download(t.Context(), pkg, hosted(origin+"/a//b?c=d", false), &got); err != nil {
		t.Fatal(err)
	}
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
		"404":       {answer(404, "", ""), registryclient.ErrNotFound},
		"401":       {answer(401, "", ""), registryclient.ErrUnauthorized},
		"206":       {answer(206, "", "part"), registryclient.ErrUnexpectedStatus},
		"204":       {answer(204, "", ""), registryclient.ErrUnexpectedStatus},
		"503":       {answer(503, "", ""), registryclient.ErrUnexpectedStatus},
		"empty":     {answer(200, "", ""), registryclient.ErrInvalidAnswer},
		"too large": {text(strings.Repeat("x", 101)), registryclient.ErrInvalidAnswer},
		"too large, chunked": {func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, strings.Repeat("x", 101))
		}, registryclient.ErrInvalidAnswer},
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

// hijack returns a handler that answers with raw bytes.
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
