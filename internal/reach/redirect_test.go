package reach_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/reach"
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
		to, reason := reach.Redirect(from, tt.location)
		got := ""
		if to != nil {
			got = to.String()
		}
		if got != tt.want || (reason == "") != (tt.want != "") {
			t.Errorf("Redirect(%s, %.40q) = %q, %q; want %q", tt.from, tt.location, got, reason, tt.want)
		}
	}
}
