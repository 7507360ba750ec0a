package policy_test

import (
	"net/url"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/policy"
)

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, url string
		denied       bool
	}{
		{"evil.example", "https://evil.example/storage/x.zip?sig=1", true},
		{"evil.example", "https://EVIL.example.:443/x.zip", true},
		{"evil.example", "http://evil.example:8080/x.zip", true},
		{"evil.example:443", "https://evil.example/x.zip", true},
		{"evil.example:80", "http://evil.example/x.zip", true},
		{"evil.example:8443", "https://evil.example:08443/x.zip", true},
		{"evil.example:8443", "https://evil.example/x.zip", false},
		{"*.example", "https://cdn.evil.example/x.zip", true},
		{"*", "https://cdn.evil.example/x.zip", true},
		{"evil.example", "https://cdn.evil.example/x.zip", false},
		{"evil.example/acme", "https://evil.example/acme/x.zip", true},
		{"evil.example/acme", "https://evil.example/Acme/x.zip", true},
		{"evil.example/acme", "https://evil.example/%61cme/x.zip", true},
		{"evil.example/acme", "https://evil.example/other/x.zip", false},
		{"evil.example/acme/net", "https://evil.example/acme/net.git/info/refs?service=git-upload-pack", true},
		{"evil.example/acme/net.git", "https://evil.example/acme/net/info/refs?service=git-upload-pack", true},
		{"evil.example/acme/net", "https://evil.example/acme/network/info/refs", false},
		{"evil.example/acme", "https://evil.example/v2/acme/net/blobs/sha256:0", true},
		{"evil.example/v2", "https://evil.example/v2/acme/net/blobs/sha256:0", true},
		{"evil.example/acme", "https://evil.example/v1/acme/net", false},
		{"127.0.0.1", "https://127.1/x.zip", true},
		{"127.1", "https://127.0.0.1/x.zip", true},
		{"[::1]", "https://[0:0:0:0:0:0:0:1]:8443/x.zip", true},
		{"bücher.example", "https://xn--bcher-kva.example/x.zip", true},
	} {
		u, err := url.Parse(tt.url)
		testenv.Must(t, err)
		p := &policy.Policy{Deny: []policy.Pattern{pattern(t, tt.pattern)}, Allow: []policy.Pattern{pattern(t, "github.com")}}
		if got := refusedBy(t, p.CheckURL(u)) != ""; got != tt.denied {
			t.Errorf("%q in deny_sources: CheckURL(%q) is denied: %v, want %v", tt.pattern, tt.url, got, tt.denied)
		}
		if p.CheckProviderURL(u) != nil || p.DeniedProviderURLs() != "" || p.DeniedURLs() == "" {
			t.Errorf("%q in deny_sources concerns requests for providers", tt.pattern)
		}
	}
}

func TestCheckProviderURL(t *testing.T) {
	t.Parallel()
	p := &policy.Policy{DenyProviders: []policy.Pattern{pattern(t, "evil.example"), pattern(t, "registry.opentofu.org/acme")}}
	for raw, want := range map[string]string{
		"https://evil.example/x.zip":               "deny_providers",
		"https://registry.opentofu.org/acme/x.zip": "", // the path of a pattern is that of an address
		"https://github.com/acme/x.zip":            "",
	} {
		u, err := url.Parse(raw)
		testenv.Must(t, err)
		if got := refusedBy(t, p.CheckProviderURL(u)); got != want || p.CheckURL(u) != nil {
			t.Errorf("CheckProviderURL(%q) is refused by %q, want %q", raw, got, want)
		}
	}
}

// TestHostSpellings checks that every spelling of a host, in a pattern and in an address, means the
// same host.
func TestHostSpellings(t *testing.T) {
	t.Parallel()
	for _, spellings := range [][]string{
		{"127.0.0.1", "127.1", "0x7f.1", "0X7F000001", "2130706433", "0177.0.0.1", "017700000001", "127.0.0.1.", "127.1:443", "127.0.0.1:0443", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"},
		{"[::1]", "[0:0::1]", "[::1]:443"},
		{"[2001:db8::a]", "[2001:DB8:0::A]"},
		{"example.com", "EXAMPLE.com", "example.com.", "example.com:443", "example.com:"},
		{"xn--bcher-kva.example", "bücher.example", "BÜCHER.example.", "bücher。example"},
	} {
		for _, written := range spellings {
			rule := []policy.Pattern{pattern(t, written+"/acme")}
			for _, spelling := range spellings {
				for _, transport := range []string{"git::https://", "https://"} {
					address := transport + spelling + "/acme/net.zip?archive=zip"
					call := policy.Call{Source: source(t, address)}
					if err := (&policy.Policy{Deny: rule}).CheckCall(call); refusedBy(t, err) != "deny_sources" {
						t.Errorf("the denied %q does not match %q: %v", written, address, err)
					}
					if err := (&policy.Policy{Allow: rule}).CheckCall(call); err != nil {
						t.Errorf("the allowed %q does not match %q: %v", written, address, err)
					}
				}
			}
		}
	}
}

// TestUsualPorts checks that a pattern with the usual port of a transport matches addresses
// without a port.
func TestUsualPorts(t *testing.T) {
	t.Parallel()
	for written, address := range map[string]string{
		"example.com:80":   "http://example.com/net.zip",
		"example.com:22":   "git::ssh://git@example.com/net.git",
		"example.com:9418": "git::git://example.com/net.git",
		"example.com:443":  "git::ssh://git@example.com/net.git",
	} {
		p := &policy.Policy{Deny: []policy.Pattern{pattern(t, written)}}
		if err := p.CheckCall(policy.Call{Source: source(t, address)}); refusedBy(t, err) != "deny_sources" {
			t.Errorf("the denied %q does not match %q", written, address)
		}
	}
}
