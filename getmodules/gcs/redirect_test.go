package gcs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
)

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
		_, _, err := fetch(t, getter, getmodules.Limits{}, gcsAddress+"b/net.zip")
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
	if _, _, err := fetch(t, getter, getmodules.Limits{}, "gcs::http://www.googleapis.com/storage/v1/b/net.zip"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"https://storage.googleapis.com"}, g.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
