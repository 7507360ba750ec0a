package httpx_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/httpx/webtest"
)

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
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Read(req, 100)
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
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&httpx.Client{HTTP: web.Client()}).Read(req, 100); err != nil {
		t.Error(err)
	}
	for _, r := range web.Requests() {
		if r.Host != "127.0.0.1" {
			t.Errorf("the request was sent to %q", r.Host)
		}
	}
	denied := req.Clone(without(t.Context(), "127.0.0.1"))
	if _, err := (&httpx.Client{HTTP: web.Client()}).Read(denied, 100); !errors.Is(err, errHost) {
		t.Errorf("Read = %v, want %v", err, errHost)
	}
}
