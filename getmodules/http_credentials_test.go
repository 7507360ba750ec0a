package getmodules_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

// TestFoundHTTPCredentials checks that the user's credentials are sent to the server that
// the address names, but not to another server that it redirects or points to.
func TestFoundHTTPCredentials(t *testing.T) {
	t.Parallel()
	users := map[string]string{} // by host and path
	note := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			user, _, _ := r.BasicAuth()
			users[r.Host+r.URL.Path] = user
			h(w, r)
		}
	}
	other := newSite(t, map[string]http.HandlerFunc{"/b.zip": note(serve(sampleZip()))})
	site := newSite(t, map[string]http.HandlerFunc{
		"/a.zip":    note(serve(sampleZip())),
		"/away.zip": note(redirectTo(302, other.URL+"/b.zip")),
		"/page":     note(leadTo(other.URL + "/b.zip")),
	})
	site.routes["/own"] = note(leadTo(site.URL + "/a.zip"))
	fetcher := newHTTPFetcher()
	fetcher.HTTPCredentials = func(_ context.Context, at *url.URL) (*url.Userinfo, error) {
		if at.User != nil || at.RawQuery != "" || at.Fragment != "" {
			t.Errorf("asked for the credentials of %s", at)
		}
		return url.UserPassword("me", "secret"), nil
	}
	host, elsewhere := strings.TrimPrefix(site.URL, "http://"), strings.TrimPrefix(other.URL, "http://")
	for _, tt := range []struct {
		name, address string
		change        func(*getmodules.Request)
		want          map[string]string
	}{
		{"archive", "/a.zip?x=1", nil, map[string]string{host + "/a.zip": "me"}},
		{"named", "//you:secret@/a.zip", nil, map[string]string{host + "/a.zip": "you"}},
		{"redirect", "/away.zip", nil, map[string]string{host + "/away.zip": "me", elsewhere + "/b.zip": ""}},
		{"named page", "//you:secret@/own", nil, map[string]string{host + "/own": "you", host + "/a.zip": "me"}},
		{"page", "/own", nil, map[string]string{host + "/own": "me", host + "/a.zip": "me"}},
		{"page of another", "/page", nil, map[string]string{host + "/page": "me", elsewhere + "/b.zip": ""}},
		{"registry there", "/a.zip", func(r *getmodules.Request) { r.FromServer, r.Origin = true, site.URL+"/v1/" }, map[string]string{host + "/a.zip": "me"}},
		{"registry elsewhere", "/a.zip", func(r *getmodules.Request) { r.FromServer, r.Origin = true, other.URL }, map[string]string{host + "/a.zip": ""}},
	} {
		clear(users)
		address := site.URL + tt.address
		if user, ok := strings.CutPrefix(tt.address, "//you:secret@"); ok {
			address = strings.Replace(site.URL, "http://", "http://you:secret@", 1) + user
		}
		change := func(r *getmodules.Request) {
			if tt.change != nil {
				tt.change(r)
			}
		}
		if _, _, err := fetchURL(t, fetcher, address, change); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for at, want := range tt.want {
			if got, asked := users[at]; got != want || !asked {
				t.Errorf("%s: %s was asked by %q (%t), want %q", tt.name, at, got, asked, want)
			}
		}
	}
	broken := errors.New("broken file")
	fetcher.HTTPCredentials = func(context.Context, *url.URL) (*url.Userinfo, error) { return nil, broken }
	for _, path := range []string{"/a.zip", "/page"} {
		if _, _, err := fetchURL(t, fetcher, site.URL+path); !errors.Is(err, broken) {
			t.Errorf("Fetch = %v, want the failure to find credentials", err)
		}
	}
}
