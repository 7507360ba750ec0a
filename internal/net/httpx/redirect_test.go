package httpx_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
)

// get returns a request with a secret in each place that can have credentials.
func get(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	testenv.Must(t, err)
	req.Header.Set("Accept", "application/json")
	for _, name := range []string{"Authorization", "Cookie", "Private-Token", "X-Anything"} {
		req.Header.Set(name, webtest.Canary)
	}
	return req
}

func hello(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }

func redirect(to string, status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, status) }
}

func TestRedirectsDropCredentials(t *testing.T) {
	t.Parallel()
	const home = "https://example.com"
	targets := []struct {
		name, to string
		keeps    bool // whether it keeps the credentials
		refused  bool
	}{
		{"same origin", home + "/end", true, false},
		{"relative", "end", true, false},
		{"same origin with its port", home + ":443/end", true, false},
		{"other port", home + ":8443/end", false, false},
		{"subdomain", "https://sub.example.com/end", false, false},
		{"other host", "https://other.example.com/end", false, false},
		{"this machine", "https://127.0.0.1/end", false, true},
		{"metadata", "https://169.254.169.254/end", false, true},
		{"number", "https://2130706433/end", false, true},
		{"there and back", "https://sub.example.com/back", false, false},
		{"http, same host", "http://example.com/end", false, true},
		{"http, this machine", "http://127.0.0.1/end", false, true},
		{"file", "file:///etc/passwd", false, true},
		{"credentials of its own", "https://u:p@sub.example.com/end", false, true},
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, test := range targets {
			t.Run(fmt.Sprint(status, " ", test.name), func(t *testing.T) {
				t.Parallel()
				web := webtest.New(t)
				serve := func(w http.ResponseWriter, r *http.Request) {
					switch r.URL.Path {
					case "/start":
						redirect(test.to, status)(w, r)
					case "/back":
						redirect(home+"/end", status)(w, r)
					default:
						hello(w, r)
					}
				}
				for _, origin := range []string{home, home + ":8443", "https://sub.example.com", "https://other.example.com", "https://127.0.0.1", "http://example.com", "http://127.0.0.1"} {
					web.Serve(origin, serve)
				}
				c := httpx.Client{HTTP: web.Client(), Refuse: httpx.InsecureRedirect, MaxRedirects: 3, Retry: httpx.Retry{Attempts: 1}}
				answer, err := read(&c, get(t, home+"/start?q="+webtest.Canary), 100)
				_, refused := errors.AsType[*httpx.RedirectError](err)
				if refused != test.refused {
					t.Fatalf("Read = %v, %v, want refused = %v", answer, err, test.refused)
				}
				web.CheckSecrecy(home)
				if refused {
					webtest.CheckText(t, err.Error())
					return
				}
				requests := web.Requests()
				last := requests[len(requests)-1]
				if got := webtest.Carried(last); got != test.keeps {
					t.Errorf("credentials at %s: %v, want %v", last.URL, got, test.keeps)
				}
				if got := last.Header.Get("Accept"); got != "application/json" {
					t.Errorf("Accept at %s = %q", last.URL, got)
				}
				if string(answer.Body) != "hello" {
					t.Errorf("body = %q", answer.Body)
				}
			})
		}
	}
}

// TestRedirectsToNowhere has invalid locations. Errors of net/http would quote them.
func TestRedirectsToNowhere(t *testing.T) {
	t.Parallel()
	for _, location := range []string{"https://u:" + webtest.Canary + "@h h/?" + webtest.Canary, "https://[::1/?" + webtest.Canary, "https://h:x/?a=" + webtest.Canary, "%zz?" + webtest.Canary} {
		web := webtest.New(t)
		web.Serve("https://example.com", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusFound)
		})
		c := httpx.Client{HTTP: web.Client(), Refuse: httpx.InsecureRedirect, MaxRedirects: 3}
		_, err := read(&c, get(t, "https://example.com/"), 100)
		if _, ok := errors.AsType[*httpx.RedirectError](err); !ok {
			t.Errorf("%q: %v, want *RedirectError", location, err)
			continue
		}
		webtest.CheckText(t, err.Error())
		if n := len(web.Requests()); n != 1 {
			t.Errorf("%q: %d requests, want no repetition", location, n)
		}
	}
}

func TestRedirectsOnLoopbackHTTP(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve("http://127.0.0.1:8000", func(w http.ResponseWriter, r *http.Request) {
		redirect(r.URL.Query().Get("to"), http.StatusFound)(w, r)
	})
	web.Serve("http://127.0.0.2:9000", hello)
	web.Serve("http://example.com", hello)
	c := httpx.Client{HTTP: web.Client(), Refuse: httpx.InsecureRedirect, MaxRedirects: 1}
	if _, err := read(&c, get(t, "http://127.0.0.1:8000/?to=http://127.0.0.2:9000/"), 100); err != nil {
		t.Errorf("from loopback to loopback: %v", err)
	}
	if _, err := read(&c, get(t, "http://127.0.0.1:8000/?to=http://example.com/"), 100); err == nil {
		t.Error("from loopback to elsewhere by http: no error")
	}
}

func TestRedirectsAreBounded(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	// Each path is one character shorter than the previous one.
	web.Serve("https://example.com", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			hello(w, r)
			return
		}
		redirect(strings.TrimSuffix(r.URL.Path, "x"), http.StatusFound)(w, r)
	})
	c := httpx.Client{HTTP: web.Client(), Refuse: httpx.InsecureRedirect, MaxRedirects: 3}
	answer, err := read(&c, get(t, "https://example.com/xxx"), 100)
	testenv.Must(t, err)
	if got := answer.URL().String(); got != "https://example.com/" {
		t.Errorf("final URL = %q", got)
	}
	before := len(web.Requests())
	_, err = read(&c, get(t, "https://example.com/xxxx"), 100)
	if _, ok := errors.AsType[*httpx.RedirectError](err); !ok {
		t.Errorf("four redirects: %v, want *RedirectError", err)
	}
	if got := len(web.Requests()) - before; got != 4 {
		t.Errorf("four redirects took %d requests, want 4 and no repetition", got)
	}
}

func TestRedirect(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ from, location, want string }{
		{"https://a.example/x/y", "https://b.example/z", "https://b.example/z"},
		{"https://a.example/x/y", "z?q=1", "https://a.example/x/z?q=1"},
		{"https://a.example/x/y", "https://u:p@b.example/z#f", "https://b.example/z"},
		{"http://a.example/x", "https://a.example/x", "https://a.example/x"},
		{"http://127.0.0.1/x", "http://localhost/x", "http://localhost/x"},
		{"https://a.example/x", "http://a.example/x", ""},
		{"https://a.example/x", "https://localhost/x", ""},
		{"https://a.example/x", "https://169.254.169.254/x", ""},
		{"https://a.example/x", "ssh://b.example/x", ""},
		{"https://a.example/x", "https:///x", ""},
		{"https://a.example/x", "https://[/x", ""},
		{"https://a.example/x", "", ""},
		{"https://a.example/x", "/" + strings.Repeat("x", 8<<10), ""},
	} {
		from, err := url.Parse(tt.from)
		testenv.Must(t, err)
		to, err := httpx.Redirect(t.Context(), from, tt.location)
		got := ""
		if to != nil {
			got = to.String()
		}
		_, refused := errors.AsType[*httpx.RedirectError](err)
		if got != tt.want || refused != (tt.want == "") {
			t.Errorf("Redirect(%s, %.40q) = %q, %v; want %q", tt.from, tt.location, got, err, tt.want)
		}
	}
}

func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	testenv.Must(t, err)
	return u
}

func TestSameOrigin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want bool
	}{
		{"https://h/a", "https://h/b?c#d", true},
		{"https://h", "https://H:443", true},
		{"http://h", "http://h:80", true},
		{"https://h", "http://h", false},
		{"https://h", "http://h:443", false},
		{"https://h", "https://h:8443", false},
		{"https://h", "https://h.", false},
		{"https://h", "https://sub.h", false},
		{"https://[::1]", "https://[::1]:443", true},
		{"https://h:0443", "https://h", false},
	}
	for _, test := range tests {
		for _, swapped := range []bool{false, true} {
			a, b := parse(t, test.a), parse(t, test.b)
			if swapped {
				a, b = b, a
			}
			if got := httpx.SameOrigin(a, b); got != test.want {
				t.Errorf("SameOrigin(%q, %q) = %v, want %v", a, b, got, test.want)
			}
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"plain \"text\" é \\": "plain \"text\" é \\",
		"a\x1b[2Jb\r\nc":      `a\x1b[2Jb\r\nc`,
		"\u202eabc\u200b":     `\u202eabc\u200b`,
		"\xff":                `\xff`,
	}
	for text, want := range tests {
		if got := httpx.Printable(text); got != want {
			t.Errorf("Printable(%q) = %q, want %q", text, got, want)
		}
	}
	if got := httpx.Printable(strings.Repeat("x", 5000)); len(got) != 1027 {
		t.Errorf("Printable of 5000 bytes has %d", len(got))
	}
}

var errHost = errors.New("this host is denied")

func without(ctx context.Context, host string) context.Context {
	return httpx.WithRule(ctx, httpx.Rule{Key: host, Check: func(u *url.URL) error {
		if u.Hostname() == host {
			return errHost
		}
		return nil
	}})
}

// A rule is applied to the first URL and to each target of a redirect, before it is requested.
func TestRule(t *testing.T) {
	t.Parallel()
	for denied, want := range map[string][]string{
		"none.example":   {"first.example", "second.example", "third.example"},
		"first.example":  nil,
		"second.example": {"first.example"},
		"third.example":  {"first.example", "second.example"},
	} {
		t.Run(denied, func(t *testing.T) {
			t.Parallel()
			web := webtest.New(t)
			web.Serve("https://first.example", redirect("https://second.example/x?secret=1", http.StatusFound))
			web.Serve("https://second.example", redirect("https://third.example/x", http.StatusMovedPermanently))
			web.Serve("https://third.example", hello)
			client := &httpx.Client{HTTP: web.Client(), MaxRedirects: 5}
			req, err := http.NewRequestWithContext(without(t.Context(), denied), http.MethodGet, "https://first.example/", nil)
			testenv.Must(t, err)
			_, err = read(client, req, 100)
			var asked []string
			for _, r := range web.Requests() {
				asked = append(asked, r.Host)
			}
			if diff := cmp.Diff(want, asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if (err == nil) != (len(want) == 3) || err != nil && !errors.Is(err, errHost) {
				t.Errorf("Read = %v, want %v unless no host is denied", err, errHost)
			}
			_, isDenied := errors.AsType[*httpx.DeniedError](err)
			_, isRedirect := errors.AsType[*httpx.RedirectError](err)
			if isDenied != (err != nil) || isRedirect != (isDenied && denied != "first.example") {
				t.Errorf("Read = %v, of the wrong type", err)
			}
			if httpx.IsTemporary(err) {
				t.Errorf("%v is temporary", err)
			}
		})
	}
}

func TestRuleOfRedirect(t *testing.T) {
	t.Parallel()
	from := &url.URL{Scheme: "https", Host: "a.example", Path: "/"}
	for denied, want := range map[string]string{
		"b.example": `the server redirects to "https://b.example/x": this host is denied`,
		"a.example": "<nil>",
	} {
		_, err := httpx.Redirect(without(t.Context(), denied), from, "https://b.example/x")
		if got := fmt.Sprint(err); got != want {
			t.Errorf("with %s denied: Redirect = %q, want %q", denied, got, want)
		}
	}
}

// Answers are shared only under equal rules. A rule that allows everything replaces another one.
func TestShare(t *testing.T) {
	t.Parallel()
	a := without(t.Context(), "a.example")
	keys := map[httpx.Shared[string]]string{}
	for name, ctx := range map[string]context.Context{
		"none": t.Context(), "a": a, "b": without(a, "b.example"), "a again": without(t.Context(), "a.example"), "none again": httpx.WithRule(a, httpx.Rule{}),
	} {
		keys[httpx.Share(ctx, "question")] += name[:1]
	}
	if len(keys) != 3 {
		t.Errorf("the keys are %v, want one for each rule", keys)
	}
}

// The client requests the host that a rule would check, in whatever spelling the URL has it.
func TestRequestedSpelling(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve("https://127.0.0.1", hello)
	req, err := http.NewRequestWithContext(without(t.Context(), "none.example"), http.MethodGet, "https://127.1/", nil)
	testenv.Must(t, err)
	if _, err := read(&httpx.Client{HTTP: web.Client()}, req, 100); err != nil {
		t.Error(err)
	}
	for _, r := range web.Requests() {
		if r.Host != "127.0.0.1" {
			t.Errorf("the request was sent to %q", r.Host)
		}
	}
	denied := req.Clone(without(t.Context(), "127.0.0.1"))
	if _, err := read(&httpx.Client{HTTP: web.Client()}, denied, 100); !errors.Is(err, errHost) {
		t.Errorf("Read = %v, want %v", err, errHost)
	}
}
