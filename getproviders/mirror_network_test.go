package getproviders_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

const (
	mirrorBase = "https://mirror.example.com/m/"
	mirrorX    = "/m/registry.opentofu.org/acme/x/"
	archive    = "the archive"
	h1         = hashing.Hash("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
)

func zh(content string) hashing.Hash {
	return hashing.Hash(fmt.Sprintf("zh:%x", sha256.Sum256([]byte(content))))
}

var one = versions.MustParse("1.0.0")

type tokens struct{ host addrs.Hostname }

func (c tokens) ForHost(_ context.Context, host addrs.Hostname) (disco.Credentials, error) {
	if host != c.host {
		return nil, nil
	}
	return disco.BearerToken(webtest.Canary), nil
}

func mirror(t testing.TB, web *webtest.Web, at string) *getproviders.NetworkMirror {
	t.Helper()
	u, err := url.Parse(at)
	testenv.Must(t, err)
	return &getproviders.NetworkMirror{
		URL: u, Credentials: tokens{"mirror.example.com"}, HTTPClient: web.Client(),
		Backoff: func(int) time.Duration { return 0 },
	}
}

// pages serves texts by path. JSON has the media type that it names, if it names one.
func pages(texts map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, ok := texts[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		typed := struct{ MediaType string }{"application/json; charset=utf-8"}
		if json.Unmarshal([]byte(text), &typed) == nil {
			w.Header().Set("Content-Type", typed.MediaType)
		}
		_, _ = w.Write([]byte(text))
	}
}

func TestNetworkMirrorIndex(t *testing.T) {
	t.Parallel()
	for index, want := range map[string][]string{
		`{"versions": {"1.10.0": {}, "1.9.0": {}, "1.2.0": null}}`:                                           {"1.2.0", "1.9.0", "1.10.0"},
		`{"versions": {"latest": {}, "v1.0.0": {}, "1.0": {}, "1.0.0": {}, "1.2.3.4": {}, "1.0.0beta": {}}}`: {"1.0.0"},
		`{"versions": {"1.0.0+b": {}, "1.0.0": {}, "1.1.0-rc.1": {}}, "more": 1}`:                            {"1.0.0", "1.0.0+b", "1.1.0-rc.1"},
		`{"versions": {}}`: nil,
		`{}`:               nil,
	} {
		web := webtest.New(t)
		web.Serve("https://mirror.example.com", pages(map[string]string{mirrorX + "index.json": index}))
		listing, err := mirror(t, web, mirrorBase).Versions(t.Context(), provider(t, "acme/x"))
		if diff := cmp.Diff(want, shown(listing)); diff != "" || err != nil {
			t.Errorf("%s: %v; (-want +got):\n%s", index, err, diff)
		}
	}
}

// TestNetworkMirrorAddress checks the requests and their credentials. Requests have the host in
// ASCII. For documents, the token of the mirror's host takes precedence over the password in its
// URL. The password is also sent for archives of the same origin.
func TestNetworkMirrorAddress(t *testing.T) {
	t.Parallel()
	const path = "xn--bcher-kva.example:8443/acme/x/"
	for _, test := range []struct {
		at, archive string
		want        []string
	}{
		{
			"https://mirror.example.com", "https://files.example.com/x.zip?sig=1",
			[]string{"/" + path + "index.json Bearer", "/" + path + "1.0.0.json Bearer", "/x.zip?sig=1"},
		},
		{
			"https://u:p@mirror.example.com/m?z=1#f", "x.zip",
			[]string{"/m/" + path + "index.json Bearer", "/m/" + path + "1.0.0.json Bearer", "/m/" + path + "x.zip Basic"},
		},
		{
			"https://u:p@other.example.com/m/", "https://files.example.com/x.zip",
			[]string{"/m/" + path + "index.json Basic", "/m/" + path + "1.0.0.json Basic", "/x.zip"},
		},
	} {
		web := webtest.New(t)
		handler := func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch {
			case strings.HasSuffix(r.URL.Path, "index.json"):
				_, _ = w.Write([]byte(`{"versions": {"1.0.0": {}}}`))
			case strings.HasSuffix(r.URL.Path, ".json"):
				fmt.Fprintf(w, `{"archives": {"linux_amd64": {"url": %q}}}`, test.archive)
			default:
				_, _ = w.Write([]byte(archive))
			}
		}
		for _, host := range []string{"mirror", "other", "files"} {
			web.Serve("https://"+host+".example.com", handler)
		}
		m, x := mirror(t, web, test.at), provider(t, "bücher.example:8443/acme/x")
		if _, err := m.Versions(t.Context(), x); err != nil {
			t.Errorf("%s: Versions: %v", test.at, err)
		}
		p, err := m.Package(t.Context(), x, one, linux)
		if err != nil {
			t.Errorf("%s: Package: %v", test.at, err)
			continue
		}
		if text, err := received(t, p); text != archive || err != nil {
			t.Errorf("%s: received %q, %v", test.at, text, err)
		}
		var got []string
		for _, r := range web.Requests() {
			scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			got = append(got, strings.TrimSpace(r.URL.RequestURI()+" "+scheme))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", test.at, diff)
		}
		web.CheckSecrecy("https://mirror.example.com")
	}
}

func TestNetworkMirrorHashes(t *testing.T) {
	t.Parallel()
	own, other, darwin := zh(archive), zh("that of another platform"), zh("that of darwin_arm64")
	for _, test := range []struct {
		name, source string
		listed       []hashing.Hash
		trust        bool
		archive      hashing.Hash
		want         getproviders.Authentication
		mismatch     bool
	}{
		{name: "none are listed", source: "acme/x"},
		{name: "own zh", source: "acme/x", listed: []hashing.Hash{own}, archive: own, want: getproviders.Authentication{Announced: []hashing.Hash{own}}},
		{
			name: "h1 and own zh", source: "acme/x", listed: []hashing.Hash{own, h1}, archive: own,
			want: getproviders.Authentication{Announced: []hashing.Hash{h1, own}},
		},
		{name: "h1 only is for the caller", source: "acme/x", listed: []hashing.Hash{h1}, want: getproviders.Authentication{Announced: []hashing.Hash{h1}}},
		{
			name: "as providers mirror writes it", source: "acme/x", listed: []hashing.Hash{own, other},
			want: getproviders.Authentication{Announced: []hashing.Hash{own, other}},
		},
		{
			name: "all are trusted", source: "acme/x", listed: []hashing.Hash{own, other}, trust: true,
			want: getproviders.Authentication{Announced: []hashing.Hash{own, other}, Hashes: []hashing.Hash{own, other, darwin}},
		},
		{
			name: "all are trusted, of the default host", source: "example.com/acme/x", listed: []hashing.Hash{own, other}, trust: true,
			want: getproviders.Authentication{Announced: []hashing.Hash{own, other}},
		},
		{name: "another archive", source: "acme/x", listed: []hashing.Hash{other}, archive: other, mismatch: true, want: getproviders.Authentication{Announced: []hashing.Hash{other}}},
		{name: "own h1, another archive", source: "acme/x", listed: []hashing.Hash{h1, other}, archive: other, mismatch: true, want: getproviders.Authentication{Announced: []hashing.Hash{h1, other}}},
		{
			name: "unknown schemes", source: "acme/x", listed: []hashing.Hash{"h2:abc", "zh:short", "nothing", own}, archive: own,
			want: getproviders.Authentication{Announced: []hashing.Hash{own}},
		},
	} {
		var quoted []string
		for _, h := range test.listed {
			quoted = append(quoted, fmt.Sprintf("%q", h))
		}
		x := provider(t, test.source)
		web := webtest.New(t)
		web.Serve("https://mirror.example.com", pages(map[string]string{
			"/m/" + x.String() + "/1.0.0.json": fmt.Sprintf(`{"archives": {"linux_amd64": {"url": "x.zip", "hashes": [%s]}, "darwin_arm64": {"url": "y.zip", "hashes": [%q]}, "x": {}}}`, strings.Join(quoted, ", "), darwin),
			"/m/" + x.String() + "/x.zip":      archive,
		}))
		m := mirror(t, web, mirrorBase)
		m.TrustAllHashes, m.TrustedHost = test.trust, addrs.DefaultRegistryHost
		p, err := m.Package(t.Context(), x, one, linux)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if p.Archive() != test.archive || p.Dir() != "" {
			t.Errorf("%s: the hash is %q, want %q", test.name, p.Archive(), test.archive)
		}
		got, err := p.Authenticate(t.Context())
		inOrder := cmpopts.SortSlices(func(a, b hashing.Hash) bool { return a < b })
		test.want.Evidence = evidence.Evidence{Kind: evidence.Mirror, By: "the mirror " + mirrorBase}
		if diff := cmp.Diff(test.want, got, inOrder); diff != "" || err != nil {
			t.Errorf("%s: %v; (-want +got):\n%s", test.name, err, diff)
		}
		_, err = received(t, p)
		if _, ok := errors.AsType[*getproviders.MismatchError](err); ok != test.mismatch || !ok && err != nil {
			t.Errorf("%s: Download: %v, want a mismatch %v", test.name, err, test.mismatch)
		}
	}
}

func TestNetworkMirrorFailures(t *testing.T) {
	t.Parallel()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	typed := func(contentType, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write([]byte(text))
		}
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	const ok = `{"archives": {"linux_amd64": {"url": "x.zip"}}}`
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    error // nil if any will do
		text    string
	}{
		"404":                   {status(404), getproviders.ErrNotFound, "not found"},
		"401":                   {status(401), getproviders.ErrMirrorRefused, "401 Unauthorized"},
		"403":                   {status(403), getproviders.ErrMirrorRefused, "403 Forbidden"},
		"500":                   {status(500), nil, "mirror.example.com answered 500 Internal Server Error"},
		"text":                  {typed("text/plain", ok), getproviders.ErrInvalidMirror, `"text/plain"`},
		"not JSON":              {typed("application/json", "<html>"), getproviders.ErrInvalidMirror, "not valid JSON"},
		"other JSON":            {typed("application/json", `{"archives": []}`), getproviders.ErrInvalidMirror, "unexpected type"},
		"another platform":      {typed("application/json", `{"archives": {"darwin_arm64": {"url": "x"}}}`), getproviders.ErrUnsupportedPlatform, ""},
		"no archives":           {typed("application/json", `{}`), getproviders.ErrUnsupportedPlatform, ""},
		"no URL":                {typed("application/json", `{"archives": {"linux_amd64": {}}}`), getproviders.ErrInvalidMirror, "URL of the archive"},
		"an archive by http":    {typed("application/json", `{"archives": {"linux_amd64": {"url": "http://mirror.example.com/x.zip"}}}`), getproviders.ErrInvalidMirror, "https"},
		"an archive right here": {typed("application/json", `{"archives": {"linux_amd64": {"url": "https://127.0.0.1/x.zip"}}}`), getproviders.ErrInvalidMirror, "127.0.0.1"},
		// A package whose hashes cannot be compared must not pass as one without hashes.
		"only unknown hashes":   {typed("application/json", `{"archives": {"linux_amd64": {"url": "x.zip", "hashes": ["h2:abc"]}}}`), getproviders.ErrInvalidMirror, "none of them"},
		"only malformed hashes": {typed("application/json", `{"archives": {"linux_amd64": {"url": "x.zip", "hashes": ["zh:short", "h1:placeholder", ""]}}}`), getproviders.ErrInvalidMirror, "none of them"},
		"a redirect to http":    {redirect("http://mirror.example.com/x"), nil, "https"},
		"a redirect with a secret": {
			redirect("https://u:" + webtest.Canary + "@files.example.com/x"), nil, "credentials",
		},
	} {
		web := webtest.New(t)
		web.Serve("https://mirror.example.com", test.handler)
		_, err := mirror(t, web, "https://u:"+webtest.Canary+"@mirror.example.com/").Package(t.Context(), provider(t, "acme/x"), one, linux)
		if found, ok := errors.AsType[*getproviders.MirrorError](err); !ok || found.Location != "https://mirror.example.com/registry.opentofu.org/acme/x/1.0.0.json" {
			t.Errorf("%s: %v, want a MirrorError", name, err)
			continue
		}
		if test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v, want %v with %q", name, err, test.want, test.text)
		}
		webtest.CheckText(t, err.Error())
	}
	m := mirror(t, webtest.New(t), "http://mirror.example.com/")
	if _, err := m.Versions(t.Context(), provider(t, "acme/x")); err == nil || !strings.Contains(err.Error(), "https") {
		t.Errorf("by http: %v", err)
	}
}

func TestNetworkMirrorAsksOnce(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve("https://mirror.example.com", pages(map[string]string{
		mirrorX + "1.0.0.json": `{"archives": {"linux_amd64": {"url": "l.zip"}, "darwin_arm64": {"url": "d.zip"}}}`,
	}))
	m := mirror(t, web, mirrorBase)
	for _, platform := range []addrs.Platform{linux, darwin, linux} {
		if _, err := m.Package(t.Context(), provider(t, "acme/x"), one, platform); err != nil {
			t.Errorf("%s: %v", platform, err)
		}
	}
	_, err := m.Package(t.Context(), provider(t, "acme/x"), one, addrs.Platform{OS: "plan9", Arch: "386"})
	const page = "https://mirror.example.com/m/registry.opentofu.org/acme/x/1.0.0.json"
	want := `provider registry.opentofu.org/acme/x 1.0.0 for plan9_386: mirror "` + page + `": no package for this platform`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if n := len(web.Requests()); n != 1 {
		t.Errorf("there were %d requests, want 1", n)
	}
}

func TestNetworkMirrorDownload(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	asked := 0
	web.Serve("https://mirror.example.com", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, ".json"):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"archives": {"linux_amd64": {"url": "x.zip?sig=%s", "hashes": [%q]}, "darwin_arm64": {"url": "none.zip"}}}`, webtest.Canary, zh(archive))
		case strings.HasSuffix(r.URL.Path, "x.zip"):
			if asked++; asked == 1 {
				w.Header().Set("Content-Length", fmt.Sprint(len(archive)))
				_, _ = w.Write([]byte(archive[:3]))
				panic(http.ErrAbortHandler)
			}
			_, _ = w.Write([]byte(archive))
		default:
			http.NotFound(w, r)
		}
	})
	m := mirror(t, web, mirrorBase)
	p, err := m.Package(t.Context(), provider(t, "acme/x"), one, linux)
	testenv.Must(t, err)
	webtest.CheckText(t, p.Location())
	if text, err := received(t, p); text != archive || err != nil || asked != 2 {
		t.Errorf("received %q, %v, after %d requests", text, err, asked)
	}
	p, err = m.Package(t.Context(), provider(t, "acme/x"), one, darwin)
	testenv.Must(t, err)
	if _, err := received(t, p); !errors.Is(err, getproviders.ErrInvalidMirror) || !strings.Contains(err.Error(), "none.zip: ") {
		t.Errorf("Download: %v, want ErrInvalidMirror", err)
	}
}

// TestNetworkMirrorLists counts what mirrors list for a run, which keeps it in memory.
func TestNetworkMirrorLists(t *testing.T) {
	t.Parallel()
	var index strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&index, `,"1.0.%d":{}`, i)
	}
	var hashes strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&hashes, `,"zh:%064x"`, i)
	}
	web := webtest.New(t)
	web.Serve("https://mirror.example.com", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "index.json") {
			fmt.Fprintf(w, `{"versions":{%s}}`, index.String()[1:])
			return
		}
		fmt.Fprintf(w, `{"archives":{"linux_amd64":{"url":"x.zip","hashes":[%s]}}}`, hashes.String()[1:])
	})
	m := mirror(t, web, mirrorBase)
	for what, list := range map[string]func(context.Context, addrs.Provider) error{
		"versions": func(ctx context.Context, p addrs.Provider) error {
			_, err := m.Versions(ctx, p)
			return err
		},
		"hashes": func(ctx context.Context, p addrs.Provider) error {
			_, err := m.Package(ctx, p, one, addrs.Platform{OS: "linux", Arch: "amd64"})
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			testenv.LastExceedsRun(t, 6, func(ctx context.Context, i int) error {
				return list(ctx, addrs.Provider{Hostname: "registry.opentofu.org", Namespace: "acme", Type: fmt.Sprintf("%s%d", what, i)})
			})
		})
	}
}
