package httpx_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/httpx"
)

func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
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
