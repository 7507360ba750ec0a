package gcs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules/gcs"
	"github.com/cotterpin/cotter/internal/testenv"
)

// google is a network in which only Google's servers exist.
type google struct {
	*cloud
	given string // the token returned for credentials; if empty, the credentials are refused
	busy  int    // how many token requests fail first
	asked []string
}

func (g *google) RoundTrip(request *http.Request) (*http.Response, error) {
	recorded := httptest.NewRecorder()
	g.mu.Lock()
	g.asked = append(g.asked, request.URL.Scheme+"://"+request.URL.Host)
	g.mu.Unlock()
	switch request.URL.Host {
	case "storage.googleapis.com":
		g.ServeHTTP(recorded, request)
	case "oauth2.googleapis.com":
		switch g.busy--; {
		case g.busy >= 0:
			recorded.WriteHeader(http.StatusServiceUnavailable)
		case g.given == "":
			http.Error(recorded, "invalid_grant\x1b"+strings.Repeat("x", 10_000), http.StatusBadRequest)
		}
		recorded.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(recorded).Encode(map[string]any{"access_token": g.given, "token_type": "Bearer", "expires_in": 3600})
	default:
		return nil, errors.New("there is no such host")
	}
	answer := recorded.Result()
	answer.Request = request
	return answer, nil
}

func newGoogle(t *testing.T) *google {
	t.Helper()
	return &google{cloud: newCloud(t, map[string]string{"b/net.zip": zipOf(t, "x"), "b/net/main.tf": "x", "b/net/a.tf": "x", "b/net/b.tf": "x"})}
}

func (g *google) getter() *gcs.Getter {
	return &gcs.Getter{HTTPClient: &http.Client{Transport: g}, Attempts: 1}
}

// setCredentials writes text to a file and sets the environment variable that names it.
// Tests that call it cannot run in parallel, because the environment belongs to the
// process.
func setCredentials(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "credentials.json")
	testenv.Must(t, os.WriteFile(file, []byte(text), 0o600))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
}

const userCredentials = `{"type":"authorized_user","client_id":"client","client_secret":"hunter22","refresh_token":"refresh22","quota_project_id":"billed"}`

// TestDefaultCredentials checks that one token is used for several requests and downloads.
func TestDefaultCredentials(t *testing.T) {
	setCredentials(t, userCredentials)
	g := newGoogle(t)
	g.given = "token22"
	var projects []string
	g.refuse = func(_ http.ResponseWriter, r *http.Request) bool {
		projects = append(projects, r.Header.Get("X-Goog-User-Project"))
		return false
	}
	g.busy = 1
	getter := g.getter()
	getter.Attempts, getter.Backoff = 2, func(int) time.Duration { return 0 }
	for _, address := range []string{"b/net.zip", "b/net"} {
		if _, _, err := fetch(t, getter, gcsAddress+address); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"https://oauth2.googleapis.com", "https://oauth2.googleapis.com"}
	for range 1 + 2 + 3 { // one archive, two pages, three files
		want = append(want, "https://storage.googleapis.com")
	}
	if diff := cmp.Diff(want, g.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	for i, token := range g.authorizations() {
		if token != "Bearer token22" || projects[i] != "billed" {
			t.Errorf("a request has %q, paid by %q", token, projects[i])
		}
	}
}

// TestCredentialsRefused checks that the error for refused credentials shows no secrets.
func TestCredentialsRefused(t *testing.T) {
	setCredentials(t, userCredentials)
	g := newGoogle(t)
	_, _, err := fetch(t, g.getter(), gcsAddress+"b/net.zip")
	if _, ok := errors.AsType[*gcs.CredentialsError](err); !ok || len(g.authorizations()) != 0 {
		t.Errorf("error is %v, want a *CredentialsError", err)
	}
	if err == nil {
		return
	}
	for _, unwanted := range []string{"hunter22", "refresh22", "\x1b", strings.Repeat("x", 1000)} {
		if strings.Contains(err.Error(), unwanted) {
			t.Errorf("%q is in %q", unwanted, err)
		}
	}
}

// TestAnonymous fetches without credentials. That works for a public bucket; for a private
// one, the error says that there are no credentials.
func TestAnonymous(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "absent.json"))
	g := newGoogle(t)
	if _, _, err := fetch(t, g.getter(), gcsAddress+"b/net"); err != nil {
		t.Fatal(err)
	}
	for _, token := range g.authorizations() {
		if token != "" {
			t.Errorf("an anonymous request has %q", token)
		}
	}
	g.refuse = func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "Anonymous caller does not have storage.objects.get access", http.StatusUnauthorized)
		return true
	}
	_, _, err := fetch(t, g.getter(), gcsAddress+"b/net.zip")
	if !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("error is %v, want fs.ErrPermission", err)
	}
	for _, want := range []string{`it says "Anonymous caller`, "absent.json", "no credentials"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
}

// TestToken checks that the application default credentials are not used if a token is
// set.
func TestToken(t *testing.T) {
	setCredentials(t, userCredentials)
	g := newGoogle(t)
	getter := g.getter()
	getter.Token = "mine22"
	if _, _, err := fetch(t, getter, gcsAddress+"b/net.zip"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"https://storage.googleapis.com"}, g.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	emulator := newCloud(t, g.objects)
	for token, want := range map[string]string{"": "", "mine22": "Bearer mine22"} {
		before := len(emulator.authorizations())
		getter := emulator.getter()
		getter.Token = token
		if _, _, err := fetch(t, getter, gcsAddress+"b/net.zip"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{want}, emulator.authorizations()[before:]); diff != "" {
			t.Errorf("an emulator receives (-want +got):\n%s", diff)
		}
	}
}

// TestRedirect checks that a token is sent only to the server that the address names, and
// that redirects from https to http are not followed.
func TestRedirect(t *testing.T) {
	t.Parallel()
	archive := zipOf(t, "x")
	var received []string // the credentials that other servers received
	other := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received = append(received, strings.TrimSpace(r.Header.Get("Authorization")+" "+r.Header.Get("X-Goog-User-Project")))
		fmt.Fprint(w, archive)
	})
	secure, plain := httptest.NewTLSServer(other), httptest.NewServer(other)
	t.Cleanup(secure.Close)
	t.Cleanup(plain.Close)
	tests := map[string]struct {
		to       string
		followed bool
		received []string // the credentials that other servers receive
		requests int      // the number of requests to the first server
	}{
		"same server":    {to: "/elsewhere", followed: true, requests: 2},
		"by https":       {to: secure.URL + "/x", followed: true, received: []string{""}, requests: 1},
		"by http":        {to: plain.URL + "/x", requests: 1},
		"from a file":    {to: "file:///etc/passwd", requests: 1},
		"for ever":       {to: "/for-ever", requests: 4},
		"without a host": {to: "https:///x", requests: 1},
		"nowhere":        {to: "", requests: 1},
	}
	for name, test := range tests {
		received = nil
		c := newCloud(t, nil)
		c.refuse = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/elsewhere" {
				fmt.Fprint(w, archive)
				return true
			}
			w.Header().Set("Location", test.to)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}
		getter := c.getter()
		getter.HTTPClient = secure.Client()
		getter.Token, getter.QuotaProject = "hunter22", "billed"
		_, _, err := fetch(t, getter, gcsAddress+"b/net.zip")
		if test.followed != (err == nil) || len(c.authorizations()) != test.requests {
			t.Errorf("%s: error is %v after %d requests", name, err, len(c.authorizations()))
		}
		if diff := cmp.Diff(test.received, received); diff != "" {
			t.Errorf("%s: other servers received (-want +got):\n%s", name, diff)
		}
		for _, token := range c.authorizations() {
			if token != "Bearer hunter22" {
				t.Errorf("%s: the first server received %q", name, token)
			}
		}
	}
}

// TestNoTokenInPlain checks that the token is sent to Google over https even if the
// address says http.
func TestNoTokenInPlain(t *testing.T) {
	t.Parallel()
	g := newGoogle(t)
	getter := g.getter()
	getter.Token = "hunter22"
	if _, _, err := fetch(t, getter, "gcs::http://www.googleapis.com/storage/v1/b/net.zip"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"https://storage.googleapis.com"}, g.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
