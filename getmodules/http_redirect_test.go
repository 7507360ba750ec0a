package getmodules_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
)

func TestRedirects(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		other := newSite(t, map[string]http.HandlerFunc{"/b.zip": serve(sampleZip())})
		first := newSite(t, map[string]http.HandlerFunc{
			"/same":    redirectTo(status, "/b.zip"),
			"/other":   redirectTo(status, other.URL+"/b.zip"),
			"/foreign": redirectTo(status, other.withUserinfo("/b.zip")),
			"/b.zip":   serve(sampleZip()),
		})
		other.routes["/back"] = redirectTo(status, first.URL+"/b.zip")
		first.routes["/there"] = redirectTo(status, other.URL+"/back")
		tests := []struct {
			path         string
			first, other []string
		}{
			// Credentials are sent only to their own origin, which includes the port.
			{"/same", []string{"GET /same user:hunter2", "GET /b.zip user:hunter2"}, nil},
			{"/other", []string{"GET /other user:hunter2"}, []string{"GET /b.zip"}},
			{"/foreign", []string{"GET /foreign user:hunter2"}, []string{"GET /b.zip"}},
			{"/there", []string{"GET /there user:hunter2", "GET /b.zip"}, []string{"GET /back"}},
		}
		for _, test := range tests {
			first.requests, other.requests = nil, nil
			if _, _, err := fetchURL(t, newHTTPFetcher(), first.withUserinfo(test.path)+"?archive=zip"); err != nil {
				t.Errorf("%d %s: %v", status, test.path, err)
			}
			if diff := cmp.Diff(test.first, first.asked()); diff != "" {
				t.Errorf("%d %s: first host was asked (-want +got):\n%s", status, test.path, diff)
			}
			if diff := cmp.Diff(test.other, other.asked()); diff != "" {
				t.Errorf("%d %s: other host was asked (-want +got):\n%s", status, test.path, diff)
			}
		}
	}
}

func TestRedirectsRefused(t *testing.T) {
	t.Parallel()
	site := newSite(t, map[string]http.HandlerFunc{
		"/loop.zip":   redirectTo(302, "/loop.zip"),
		"/file.zip":   redirectTo(302, "file:///etc/passwd"),
		"/ftp.zip":    redirectTo(302, "ftp://example.com/a.zip"),
		"/hidden.zip": redirectTo(302, ""),
		"/bad.zip":    redirectTo(302, "http://a b/hunter2"),
		"/nohost.zip": redirectTo(302, "http:///x"),
		"/cloud.zip":  redirectTo(302, "http://169.254.169.254/latest/meta-data/a.zip"),
		"/number.zip": redirectTo(302, "http://2130706433/a.zip"),
		"/page.zip":   redirectTo(302, "https://[fe80::1]/a.zip"),
	})
	for path := range site.routes {
		_, _, err := fetchURL(t, newHTTPFetcher(), site.URL+path)
		if !errors.Is(err, getmodules.ErrRefusedLocation) {
			t.Errorf("%s: error is %v, want ErrRefusedLocation", path, err)
		}
	}
}

func TestRedirectLimit(t *testing.T) {
	t.Parallel()
	routes := map[string]http.HandlerFunc{"/0.zip": serve(sampleZip())}
	for i := range 6 {
		routes[fmt.Sprintf("/%d.zip", i+1)] = redirectTo(302, fmt.Sprintf("/%d.zip", i))
	}
	site := newSite(t, routes)
	if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/5.zip"); err != nil {
		t.Errorf("5 redirects: %v", err)
	}
	if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/6.zip"); !errors.Is(err, getmodules.ErrRefusedLocation) {
		t.Errorf("6 redirects: error is %v, want ErrRefusedLocation", err)
	}
}

func TestRedirectFromTLS(t *testing.T) {
	t.Parallel()
	plain := newSite(t, map[string]http.HandlerFunc{"/a.zip": serve(sampleZip())})
	secure := httptest.NewTLSServer(redirectTo(302, plain.URL+"/a.zip"))
	defer secure.Close()
	f := newHTTPFetcher()
	f.HTTPClient = secure.Client()
	if _, _, err := fetchURL(t, f, secure.URL+"/a.zip"); !errors.Is(err, getmodules.ErrRefusedLocation) {
		t.Errorf("https to http: error is %v, want ErrRefusedLocation", err)
	}
	if got := plain.asked(); got != nil {
		t.Errorf("the plain host was asked %q", got)
	}
}

// TestUntrustedTLS checks that an untrusted certificate is an error that is not retried.
func TestUntrustedTLS(t *testing.T) {
	t.Parallel()
	secure := httptest.NewUnstartedServer(serve(sampleZip()))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	retried := false
	f := newHTTPFetcher()
	f.Backoff = func(int) time.Duration { retried = true; return 0 }
	if _, _, err := fetchURL(t, f, secure.URL+"/a.zip"); err == nil || retried {
		t.Errorf("error is %v, retried: %v", err, retried)
	}
}
