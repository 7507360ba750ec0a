package hostname_test

import (
	"net/url"
	"testing"

	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ host, canonical, request string }{
		{"example.com", "example.com", "example.com"},
		{"Example.COM.", "example.com", "Example.COM."},
		{"bücher.example", "xn--bcher-kva.example", "bücher.example"},
		{"BÜCHER。example", "xn--bcher-kva.example", "BÜCHER。example"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"my_host.example", "my_host.example", "my_host.example"},
		{"ＭＹ_host。example", "my_host.example", "ＭＹ_host。example"},
		{"ｌocalhost", "localhost", "ｌocalhost"},
		{"localhost", "localhost", "localhost"},
		{"127.0.0.1", "127.0.0.1", "127.0.0.1"},
		{"127.0.0.1.", "127.0.0.1", "127.0.0.1"},
		{"127.1", "127.0.0.1", "127.0.0.1"},
		{"127.0.1", "127.0.0.1", "127.0.0.1"},
		{"127.0.0.１", "127.0.0.1", "127.0.0.1"},
		{"0x7f.1", "127.0.0.1", "127.0.0.1"},
		{"0X7F.1", "127.0.0.1", "127.0.0.1"},
		{"0x7f000001", "127.0.0.1", "127.0.0.1"},
		{"2130706433", "127.0.0.1", "127.0.0.1"},
		{"017700000001", "127.0.0.1", "127.0.0.1"},
		{"0177.0.0.1", "127.0.0.1", "127.0.0.1"},
		{"0177.0.0.01", "127.0.0.1", "127.0.0.1"},
		{"0x.0x.0x.0x", "0.0.0.0", "0.0.0.0"},
		{"0", "0.0.0.0", "0.0.0.0"},
		{"4294967295", "255.255.255.255", "255.255.255.255"},
		{"::ffff:127.0.0.1", "127.0.0.1", "::ffff:127.0.0.1"},
		{"::FFFF:7F00:1", "127.0.0.1", "::FFFF:7F00:1"},
		{"0:0:0:0:0:0:0:1", "::1", "0:0:0:0:0:0:0:1"},
		{"fe80::1%eth0", "fe80::1", "fe80::1%eth0"},
		// These are not addresses.
		{"4294967296", "4294967296", "4294967296"},
		{"256.1", "256.1", "256.1"},
		{"1.256.1", "1.256.1", "1.256.1"},
		{"127.0.0.0.1", "127.0.0.0.1", "127.0.0.0.1"},
		{"08.1", "08.1", "08.1"},
		{"1..1", "1..1", "1..1"},
		{"1_0.1", "1_0.1", "1_0.1"},
		{"127.1.example", "127.1.example", "127.1.example"},
		{"", "", ""},
		{".", "", "."},
	} {
		if got := hostname.Canonical(tt.host); got != tt.canonical {
			t.Errorf("Canonical(%q) = %q, want %q", tt.host, got, tt.canonical)
		}
		if got := hostname.ToRequest(tt.host); got != tt.request {
			t.Errorf("ToRequest(%q) = %q, want %q", tt.host, got, tt.request)
		}
	}
}

func TestNormalizeURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://127.1/a":             "https://127.0.0.1/a",
		"https://user:pw@127.1:8443/": "https://user:pw@127.0.0.1:8443/",
		"https://0x7f.1:/":            "https://127.0.0.1/",
		"https://h.example:/a":        "https://h.example/a",
		"ssh://git@2130706433/a.git":  "ssh://git@127.0.0.1/a.git",
		"https://[::1]:8443/":         "https://[::1]:8443/",
		"https://GitHub.com./a":       "https://GitHub.com./a",
		"https://127.0.0.１/a":         "https://127.0.0.1/a",
		"/srv/a":                      "/srv/a",
	} {
		u, err := url.Parse(raw)
		testenv.Must(t, err)
		hostname.NormalizeURL(u)
		if u.String() != want {
			t.Errorf("NormalizeURL(%q) = %q, want %q", raw, u, want)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{"127.1", "0x7f.1", "bücher.example.", "::ffff:127.0.0.1", "fe80::1%25eth0", "１２７。1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		canonical := hostname.Canonical(host)
		if requested := hostname.Canonical(hostname.ToRequest(host)); requested != canonical {
			t.Errorf("the request for %q goes to %q, but %q was compared", host, requested, canonical)
		}
	})
}

func TestURLIn(t *testing.T) {
	t.Parallel()
	for text, host := range map[string]string{
		"https://example.com:8443/x":                  "example.com:8443",
		"git::https://example.com/x.git?ref=v1":       "example.com",
		"https://[2001:db8::1]:8443/x":                "[2001:db8::1]:8443",
		"git::ssh://git@[2001:db8::1]/x.git":          "[2001:db8::1]",
		"https://example.com/a::b":                    "example.com",
		"s3::https://example.com/b/k?sig=REDACTED::x": "example.com",
		"oci://example.com/x":                         "example.com",
		"the provider mirror":                         "",
		"/srv/git/x.git":                              "",
		"https://exa mple.com/":                       "",
		"":                                            "",
	} {
		if got := hostname.URLIn(text).Host; got != host {
			t.Errorf("URLIn(%q) is at %q, want %q", text, got, host)
		}
	}
}
