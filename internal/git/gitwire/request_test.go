package gitwire_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitwire"
)

var list = lines(id+" HEAD", "0000")

func TestRequest(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/a/r.git":     "POST /a/r.git/git-upload-pack",
		"/a/r.git/":    "POST /a/r.git/git-upload-pack",
		"/a/../r":      "POST /a/../r/git-upload-pack",
		"/a%2Fb/r.git": "POST /a%2Fb/r.git/git-upload-pack",
	} {
		s := serve(t, canned(list))
		if _, err := s.client(t, path).Refs(t.Context(), "HEAD", "refs/tags/v1"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{want}, s.requests()); diff != "" {
			t.Errorf("requests for %q (-want +got):\n%s", path, diff)
		}
		sent := s.seen[0]
		body, _ := io.ReadAll(sent.Body)
		if got, want := string(body), lines("command=ls-refs", "0001")+"0009peel\n0014ref-prefix HEAD\n"+"001cref-prefix refs/tags/v1\n0000"; got != want && path == "/a/r.git" {
			t.Errorf("request %q, want %q", got, want)
		}
		for name, want := range map[string]string{
			"Git-Protocol": "version=2", "Content-Type": "application/x-git-upload-pack-request", "User-Agent": "git/2.0 (cotter)",
			"Authorization": "", "Cookie": "", "Referer": "",
		} {
			if got := sent.Header.Get(name); got != want {
				t.Errorf("the request has %s: %q, want %q", name, got, want)
			}
		}
	}
}

func TestRequestRefusesURL(t *testing.T) {
	t.Parallel()
	s := serve(t, canned(list))
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"http://u:p@" + u.Host + "/r.git", s.URL + "/r.git?x=1", s.URL + "/r.git#x"} {
		repository, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		c := gitwire.Client{Transport: &gitwire.HTTP{RoundTripper: s.Client().Transport, Repository: repository}}
		if _, err := c.Refs(t.Context(), "HEAD"); err == nil {
			t.Errorf("Refs of %q = nil error", raw)
		}
	}
	if got := s.requests(); len(got) > 0 {
		t.Errorf("requests %q, want none", got)
	}
}

// moved returns the handler of a host whose repository has moved from /old.git to target.
func moved(status int, target string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		rest, old := strings.CutPrefix(r.URL.RequestURI(), "/old.git")
		switch {
		case old:
			w.Header().Set("Location", target+rest)
			w.WriteHeader(status)
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			io.WriteString(w, lines("# service=git-upload-pack", "0000", "version 2", "ls-refs", "0000"))
		default:
			canned(list)(w, r)
		}
	}
}

func TestRedirect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, moved(status, "/new.git"))
		c := s.client(t, "/old.git")
		for range 2 {
			if _, err := c.Refs(t.Context(), "HEAD"); err != nil {
				t.Fatalf("Refs after a redirect with %d = %v", status, err)
			}
		}
		want := []string{
			"POST /old.git/git-upload-pack",
			"GET /old.git/info/refs?service=git-upload-pack",
			"GET /new.git/info/refs?service=git-upload-pack",
			"POST /new.git/git-upload-pack",
			"POST /new.git/git-upload-pack", // the second request
		}
		if diff := cmp.Diff(want, s.requests()); diff != "" {
			t.Errorf("requests after a redirect with %d (-want +got):\n%s", status, diff)
		}
	}
}

// TestRedirectRefused has redirects that are not followed. Package httpx tests where a server may redirect to.
func TestRedirectRefused(t *testing.T) {
	t.Parallel()
	to := func(location string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusFound)
		}
	}
	advert := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				to("/x")(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			io.WriteString(w, body)
		}
	}
	tests := map[string]struct {
		answer http.HandlerFunc
		want   error
	}{
		"loop":       {func(w http.ResponseWriter, r *http.Request) { to(r.URL.RequestURI())(w, r) }, git.ErrRefused},
		"file":       {to("file:///etc/passwd"), git.ErrRefused},
		"other form": {moved(302, "/elsewhere?x="), git.ErrRefused},
		"version 1":  {advert(lines("# service=git-upload-pack", "0000", "version 1", "0000")), gitwire.ErrOldProtocol},
		"version 0":  {advert(lines("# service=git-upload-pack", "0000", id+" HEAD", "0000")), gitwire.ErrOldProtocol},
		"no version": {advert("0000"), gitwire.ErrOldProtocol},
		"cut off":    {advert("000eversi"), io.ErrUnexpectedEOF},
		"moves twice": {func(w http.ResponseWriter, r *http.Request) { // moves again after the advertisement
			if r.Method == http.MethodPost {
				to("/again.git/git-upload-pack")(w, r)
				return
			}
			moved(302, "/new.git")(w, r)
		}, git.ErrRefused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tt.answer)
			_, err := s.client(t, "/old.git").Refs(t.Context(), "HEAD")
			wantError(t, "Refs", err, tt.want)
			if n := len(s.requests()); n > gitwire.MaxRedirects+3 {
				t.Errorf("%d requests", n)
			}
		})
	}
}
