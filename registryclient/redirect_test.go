package registryclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/cotterpin/cotter/internal/httpx/webtest"
	"github.com/cotterpin/cotter/registryclient"
)

func redirectTo(to string, status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, status) }
}

// TestRedirects tests every redirect target with every status, each time with one of the three
// requests. In total, each request is also tested with every target and every status.
func TestRedirects(t *testing.T) {
	t.Parallel()
	requests := []struct {
		name string
		ask  call
	}{
		{"versions", calls["versions"]},
		{"location", calls["location"]},
		{"download", func(ctx context.Context, c *registryclient.Client) error {
			return c.Download(ctx, pkg, hosted(origin+"/x.zip", true), io.Discard)
		}},
	}
	for i, target := range []struct {
		to       string
		followed bool
	}{
		{origin + "/moved", true},
		{"https://example.com:8443/moved", true},
		{"https://sub.example.com/moved", true},
		{"https://other.example.com/moved", true},
		{"https://127.0.0.1/moved", false},
		{"https://169.254.169.254/moved", false},
		{"https://sub.example.com/back", true},
		{"http://example.com/moved", false},
		{"http://127.0.0.1/moved", false},
		{"https://sub.example.com/forever", false},
	} {
		for j, status := range []int{301, 302, 303, 307, 308} {
			request := requests[(i+j)%len(requests)]
			t.Run(fmt.Sprint(request.name, " ", status, " ", target.to), func(t *testing.T) {
				t.Parallel()
				web := webtest.New(t)
				for _, at := range []string{origin, "https://example.com:8443", "https://sub.example.com", "https://other.example.com", "https://127.0.0.1", "http://example.com", "http://127.0.0.1"} {
					web.Serve(at, moving(target.to, status))
				}
				c := client(web)
				c.Services = services{base: base, token: webtest.Canary}
				err := request.ask(t.Context(), c)
				if target.followed && err != nil || !target.followed && !errors.Is(err, registryclient.ErrInvalidAnswer) {
					t.Errorf("error %v, want followed = %v", err, target.followed)
				}
				web.CheckSecrecy(origin)
				if !webtest.Carried(web.Requests()[0]) {
					t.Error("the registry itself did not get the token")
				}
			})
		}
	}
}

// moving redirects to a URL, and serves /moved with an answer to every kind of request. It also
// redirects /back to /moved, and /forever to itself.
func moving(to string, status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			text(`{"modules":[{}],"location":"./x.zip"}`)(w, r)
		case "/back":
			redirectTo(origin+"/moved", status)(w, r)
		case "/forever":
			redirectTo("/forever", status)(w, r)
		default:
			redirectTo(to, status)(w, r)
		}
	}
}
