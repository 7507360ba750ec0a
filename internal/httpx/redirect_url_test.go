package httpx_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/httpx"
)

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
		if err != nil {
			t.Fatal(err)
		}
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
