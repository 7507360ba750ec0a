package hg_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/hg"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestRevisions(t *testing.T) {
	t.Parallel()
	first := map[string]string{"main.tf": "first\n", "modules/a/main.tf": "a\r\n", "link": "link:modules/a"}
	dir, one := newRepository(t, first)
	run(t, dir, "tag", "--local", "unseen")
	run(t, dir, "branch", "--quiet", "work")
	two := commit(t, dir, map[string]string{"main.tf": "second\n"})
	run(t, dir, "bookmark", "--rev="+one, "mark")
	run(t, dir, "update", "--quiet", "default")
	run(t, dir, "tag", "--rev="+one, "v1 beta")
	newest := run(t, dir, "identify", "--rev=default", "--template={node}")
	for query, want := range map[string]string{"": newest, "?rev=" + one: one, "?rev=" + one[:8]: one, "?rev=mark": one, "?rev=work": two, "?rev=0": one} {
		t.Run("resolve "+query, func(t *testing.T) {
			t.Parallel()
			from, err := url.Parse(strings.TrimPrefix(fileURL(dir), "hg::") + query)
			testenv.Must(t, err)
			if got, err := hg.Resolve(t.Context(), t.TempDir(), from); err != nil || got != want {
				t.Errorf("changeset %s, %v, want %s", got, err, want)
			}
		})
	}
	for query, pinned := range map[string]string{"?rev=v1%20beta": "", "?rev=work": one} {
		t.Run("fetch "+query, func(t *testing.T) {
			t.Parallel()
			got, pkg, err := fetch(t, &getmodules.Fetcher{}, fileURL(dir)+query, pinned)
			testenv.Must(t, err)
			if address := fileURL(dir) + "?rev=" + one; pkg.Revision != one || pkg.Resolved.String() != address {
				t.Errorf("revision %s from %s, want %s from %s", pkg.Revision, pkg.Resolved, one, address)
			}
			if diff := cmp.Diff(first, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoDefaultBranch(t *testing.T) {
	t.Parallel()
	requireHg(t)
	dir := t.TempDir()
	run(t, dir, "init")
	if _, _, err := fetch(t, &getmodules.Fetcher{}, fileURL(dir), ""); !errors.Is(err, getmodules.ErrEmpty) {
		t.Errorf("an empty repository: %v, want ErrEmpty", err)
	}
	run(t, dir, "branch", "--quiet", "main")
	id := commit(t, dir, map[string]string{"main.tf": "x"})
	if _, pkg, err := fetch(t, &getmodules.Fetcher{}, fileURL(dir), ""); err != nil || pkg.Revision != id {
		t.Errorf("without a branch \"default\": %v, %v, want %s", pkg, err, id)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	dir, _ := newRepository(t, map[string]string{"main.tf": "x"})
	mark := filepath.Join(t.TempDir(), "mark")
	tests := map[string]string{
		"hg::https://h.example/n?rev=--config%3Dhooks.pre-pull%3Dtouch%20" + mark: "begins with",
		"hg::https://h.example/n?rev=-1":                                          "begins with",
		"hg::https://h.example/n?rev=a%0Ab":                                       "control characters",
		"hg::https://h.example/--config=x":                                        "begins with",
		"hg::ssh://-oProxyCommand=x/n":                                            "begins with",
		"hg::https://u%0A%5Bhooks%5D:p@h.example/n":                               "control characters",
		"hg::https://h.example/n#branch":                                          "cannot have a fragment",
		"hg::https://h.example/n.zip":                                             "is not an archive",
		"hg::bundle:/tmp/x":                                                       "is not https",
		"hg::static-http://h.example/n":                                           "is not https",
		"hg::/etc":                                                                "is not https",
		fileURL(dir) + "?rev=missing":                                             "unknown revision",
		fileURL(dir) + "?checksum=md5:00":                                         "checksum",
	}
	for address, want := range tests {
		_, _, err := fetch(t, &getmodules.Fetcher{}, address, "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v, want one with %q", address, err, want)
		}
	}
	if _, _, err := fetch(t, &getmodules.Fetcher{}, fileURL(dir), "--config=x"); err == nil || !strings.Contains(err.Error(), "40") {
		t.Errorf("a name that is no revision: %v", err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("an address ran a command")
	}
}

func TestNoHg(t *testing.T) {
	t.Parallel()
	for _, g := range []hg.Getter{{Env: []string{"PATH=."}}, {Path: "hg"}, {Path: filepath.Join(t.TempDir(), "hg")}} {
		f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"hg": g}}
		if _, _, err := fetch(t, f, "hg::https://h.example/n", ""); !errors.Is(err, hg.ErrNoHg) || !strings.Contains(err.Error(), "requires Mercurial") {
			t.Errorf("%+v: error is %v, want ErrNoHg", g, err)
		}
	}
}

// TestUserConfiguration checks that the user's configuration changes neither the files nor
// the output of hg.
func TestUserConfiguration(t *testing.T) {
	t.Parallel()
	want := map[string]string{"main.tf": "a\nb\n", ".hgsub": "sub = https://h.example/sub\n"}
	dir, id := newRepository(t, want)
	rc := filepath.Join(t.TempDir(), "hgrc")
	text := "[ui]\ninteractive = true\nverbose = true\ndebug = true\n[decode]\n** = tr a-z A-Z\n[extensions]\neol =\nlargefiles =\n" +
		"[eol]\nnative = CRLF\n[alias]\narchive = version\npull = version\n[defaults]\npull = --update\n"
	testenv.Must(t, os.WriteFile(rc, []byte(text), 0o600))
	env := append(os.Environ(), "HGRCPATH="+rc, "HGPLAIN=", "HGPLAINEXCEPT=alias")
	f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"hg": hg.Getter{Env: env}}}
	want[".hgsubstate"] = strings.Repeat("0", 40) + " sub\n" // added by the commit
	got, pkg, err := fetch(t, f, fileURL(dir), "")
	testenv.Must(t, err)
	if diff := cmp.Diff(want, got); diff != "" || pkg.Revision != id {
		t.Errorf("revision %q, want %q; files (-want +got):\n%s", pkg.Revision, id, diff)
	}
}

// guarded starts a server that requires a password and passes requests on to another
// server.
func guarded(t *testing.T, host string) *httptest.Server {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: host})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "someone" || password != "hunter22" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	want := map[string]string{"main.tf": "x"}
	dir, id := newRepository(t, want)
	host := strings.TrimPrefix(guarded(t, serve(t, dir)).URL, "http://")
	got, pkg, err := fetch(t, &getmodules.Fetcher{}, "hg::http://someone:hunter22@"+host+"/", "")
	testenv.Must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if want := "hg::http://" + host + "/?rev=" + id; pkg.Resolved.String() != want {
		t.Errorf("resolved %q, want %q", pkg.Resolved, want)
	}
	for _, user := range []string{"", "someone:wrongpass@"} { // hg must not prompt
		_, _, err := fetch(t, &getmodules.Fetcher{}, "hg::http://"+user+host+"/", "")
		var failed *hg.Error
		if !errors.As(err, &failed) || strings.Contains(err.Error(), "wrongpass") {
			t.Errorf("with %q: error is %v, want an *hg.Error without the password", user, err)
		}
	}
}

// TestCanceled cancels a fetch while hg waits for a server that does not answer.
func TestCanceled(t *testing.T) {
	t.Parallel()
	requireHg(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	_, _, err := fetchContext(ctx, t, &getmodules.Fetcher{}, "hg::"+server.URL+"/n", "")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}
