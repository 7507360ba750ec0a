package getproviders_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
)

// netrc has a user for one server.
func netrc(_ context.Context, at *url.URL) (*url.Userinfo, error) {
	if at.Host != "files.example.com" {
		return nil, nil
	}
	return url.UserPassword("user", webtest.Canary), nil
}

// private answers only requests with a user or a token, and 401 to others.
func private(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

func forbidden(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }

// TestArchiveCredentials downloads archives of a registry from servers that want credentials.
func TestArchiveCredentials(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		at    string
		find  func(context.Context, *url.URL) (*url.Userinfo, error)
		serve http.HandlerFunc
		// want is nil if the archive is received.
		want *getproviders.RefusedError
	}{
		"netrc":             {origin, netrc, private(serve), nil},
		"without":           {origin, nil, private(serve), &getproviders.RefusedError{StatusCode: 401}},
		"another host":      {"https://other.example.com", netrc, private(serve), &getproviders.RefusedError{StatusCode: 401, Login: getproviders.LoginNetrc}},
		"http":              {"http://files.example.com", netrc, private(serve), &getproviders.RefusedError{StatusCode: 401}},
		"wrong credentials": {origin, netrc, forbidden, &getproviders.RefusedError{StatusCode: 403, CredentialsSent: true, Login: getproviders.LoginNetrc}},
		"a redirect": {origin, netrc, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://cdn.example.com/x", http.StatusFound)
		}, &getproviders.RefusedError{StatusCode: 401}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := webtest.New(t)
			web.Serve(tt.at, tt.serve)
			web.Serve("https://cdn.example.com", private(serve))
			err := download(t, web, tt.at+"/x.zip", func(d *getproviders.Direct, _ *answer) { d.HTTPCredentials = tt.find })
			checkRefused(t, err, tt.want)
			web.CheckSecrecy(origin)
		})
	}
}

func checkRefused(t *testing.T, err error, want *getproviders.RefusedError) {
	t.Helper()
	if want == nil {
		testenv.Must(t, err)
		return
	}
	got, ok := errors.AsType[*getproviders.RefusedError](err)
	if !ok || got.StatusCode != want.StatusCode || got.CredentialsSent != want.CredentialsSent || got.Login != want.Login {
		t.Fatalf("Download = %v (%+v), want %+v", err, got, want)
	}
	webtest.CheckText(t, err.Error())
}

type token struct{}

func (token) ForHost(_ context.Context, host addrs.Hostname) (disco.Credentials, error) {
	if !strings.HasPrefix(string(host), "mirror.example.com") {
		return nil, nil
	}
	return disco.BearerToken(webtest.Canary), nil
}

// TestMirrorArchiveCredentials checks that an archive gets the token of a mirror only from the same server.
func TestMirrorArchiveCredentials(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]*getproviders.RefusedError{
		"x.zip":                              nil,
		"https://mirror.example.com:443/x":   nil,
		"https://mirror.example.com:8443/x":  {StatusCode: 401},
		"https://sub.mirror.example.com/x":   {StatusCode: 401},
		"https://mirror.example.com/moved":   {StatusCode: 401}, // to another server
		"https://mirror.example.com/refused": {StatusCode: 403, CredentialsSent: true, Login: getproviders.LoginToken},
		"https://mirror.example.com/around":  {StatusCode: 401, Login: getproviders.LoginToken}, // and back, without the token
	} {
		web := webtest.New(t)
		web.Serve("https://mirror.example.com", private(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, ".json"):
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"archives": {"linux_amd64": {"url": %q}}}`, at)
			case r.URL.Path == "/moved":
				http.Redirect(w, r, "https://sub.mirror.example.com/x", http.StatusFound)
			case r.URL.Path == "/around":
				http.Redirect(w, r, "https://sub.mirror.example.com/back", http.StatusFound)
			case r.URL.Path == "/refused":
				w.WriteHeader(http.StatusForbidden)
			default:
				_, _ = w.Write([]byte(archive))
			}
		}))
		for _, other := range []string{"https://mirror.example.com:8443", "https://sub.mirror.example.com"} {
			web.Serve(other, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/back" {
					http.Redirect(w, r, "https://mirror.example.com/x.zip", http.StatusFound)
					return
				}
				private(serve)(w, r)
			})
		}
		m := mirror(t, web, mirrorBase)
		m.Credentials = token{}
		p, err := m.Package(t.Context(), provider(t, "acme/x"), one, linux)
		testenv.Must(t, err)
		_, err = received(t, p)
		checkRefused(t, err, want)
		web.CheckSecrecy("https://mirror.example.com")
	}
}
