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
	var told []string // the credentials that other servers received
	other := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told = append(told, strings.TrimSpace(r.Header.Get("Authorization")+" "+r.Header.Get("X-Goog-User-Project")))
		fmt.Fprint(w, archive)
	})
	secure, plain := httptest.NewTLSServer(other), httptest.NewServer(other)
	t.Cleanup(secure.Close)
	t.Cleanup(plain.Close)
	tests := map[string]struct {
		to   string
		ok   bool
		told []string
		here int // number of requests to the first server
	}{
		"same server":    {"/elsewhere", true, nil, 2},
		"by https":       {secure.URL + "/x", true, []string{""}, 1},
		"by http":        {plain.URL + "/x", false, nil, 1},
		"from a file":    {"file:///etc/passwd", false, nil, 1},
		"for ever":       {"/for-ever", false, nil, 4},
		"without a host": {"https:///x", false, nil, 1},
		"nowhere":        {"", false, nil, 1},
	}
	for name, test := range tests {
		told = nil
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
		if test.ok != (err == nil) || len(c.told()) != test.here {
			t.Errorf("%s: error is %v after %d requests", name, err, len(c.told()))
		}
		if diff := cmp.Diff(test.told, told); diff != "" {
			t.Errorf("%s: other servers were told (-want +got):\n%s", name, diff)
		}
		for _, token := range c.told() {
			if token != "Bearer hunter22" {
				t.Errorf("%s: the first server was told %q", name, token)
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
