package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/policy"
)

func pattern(t testing.TB, text string) policy.Pattern {
	t.Helper()
	p, err := policy.ParsePattern(text)
	testenv.Must(t, err)
	return p
}

func source(t testing.TB, text string) addrs.ModuleSource {
	t.Helper()
	s, err := addrs.ParseModuleSource(text)
	testenv.Must(t, err)
	return s
}

// Each row has a pattern and an address. An address that a pattern allows is also denied by the
// same pattern in a deny list, but a pattern can deny more than it allows.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, source string
		allows, denies  bool
	}{
		{pattern: "github.com", source: "git::https://github.com/acme/net.git?ref=v1", allows: true, denies: true},
		{pattern: "github.com", source: "github.com/acme/net//modules/x?ref=v1", allows: true, denies: true},
		{pattern: "github.com/acme", source: "git::ssh://git@github.com/acme/net.git", allows: true, denies: true},
		{pattern: "github.com/acme", source: "git@github.com:acme/net.git", allows: true, denies: true},
		{pattern: "github.com/acme", source: "git::ssh://git@github.com:22/acme/net", allows: true, denies: true},
		{pattern: "github.com/acme/net", source: "git::https://github.com/acme/net.git", allows: true, denies: true},
		{pattern: "github.com/acme/net.git", source: "git::https://github.com/acme/net", allows: true, denies: true},
		{pattern: "github.com/acme", source: "git::https://github.com./acme/net", allows: true, denies: true},
		{pattern: "github.com/acme", source: "git::https://GitHub.com/acme//x", allows: true, denies: true},
		{pattern: "github.com/acme", source: "git::https://user:secret@github.com/acme/net", allows: true, denies: true},
		{pattern: "github.com/acme", source: "https://github.com/acme/net/archive/v1.zip", allows: true, denies: true},
		{pattern: "github.com/acme/*/archive", source: "https://github.com/acme/net/archive/v1.zip", allows: true, denies: true},
		{pattern: "github.com/a*", source: "git::https://github.com/acme/net.git", allows: true, denies: true},
		{pattern: "github.com/acme", source: "git::https://github.com/%61cme/net.git", allows: true, denies: true},
		{pattern: "github.com/acme", source: "git::https://github.com/acmeevil/net.git"},
		{pattern: "github.com/acme", source: "git::https://github.com.evil.example/acme/net.git"},
		{pattern: "github.com/acme", source: "git::https://evil.example/github.com/acme/net.git"},
		{pattern: "github.com/acme", source: "git::https://github.com@evil.example/acme/net.git"},
		{pattern: "github.com/acme/net", source: "git::https://github.com/acme"},
		{pattern: "github.com/acme", source: "git::https://github.com/Acme/net.git", denies: true},
		{pattern: "github.com/acme", source: "git::https://github.com:8443/acme/net.git", denies: true},
		{pattern: "github.com:8443/acme", source: "git::https://github.com:8443/acme/net.git", allows: true, denies: true},
		{pattern: "github.com:8443", source: "git::https://github.com/acme/net.git"},
		{pattern: "github.com:443", source: "git::https://github.com/acme/net.git", allows: true, denies: true},
		{pattern: "*.corp.example", source: "git::https://git.corp.example/net.git", allows: true, denies: true},
		{pattern: "*.corp.example", source: "git::https://a.b.corp.example/net.git", allows: true, denies: true},
		{pattern: "*.corp.example", source: "git::https://corp.example/net.git"},
		{pattern: "*.corp.example", source: "git::https://evilcorp.example/net.git"},
		{pattern: "*", source: "git::https://anything.example:99/net.git", allows: true, denies: true},
		{pattern: "*/acme", source: "git::https://anything.example/acme/net.git", allows: true, denies: true},
		{pattern: "*", source: "git::file:///srv/net.git"},
		{pattern: "/srv", source: "git::file:///srv/net.git", allows: true, denies: true},
		{pattern: "/srv/modules", source: "/srv/modules/net.zip", allows: true, denies: true},
		{pattern: "/srv/modules", source: "/srv/other"},
		{pattern: "registry.opentofu.org", source: "acme/net/aws", allows: true, denies: true},
		{pattern: "registry.opentofu.org/acme", source: "acme/net/aws//modules/x", allows: true, denies: true},
		{pattern: "registry.opentofu.org/acme/*/aws", source: "acme/net/aws", allows: true, denies: true},
		{pattern: "registry.opentofu.org/acme/*/aws", source: "acme/net/google"},
		{pattern: "registry.terraform.io/acme", source: "acme/net/aws"},
		{pattern: "registry.example.com:8080/acme", source: "registry.example.com:8080/acme/net/aws", allows: true, denies: true},
		{pattern: "bücher.example", source: "xn--bcher-kva.example/acme/net/aws", allows: true, denies: true},
		{pattern: "ghcr.io/acme", source: "oci://ghcr.io/acme/net?tag=1.0.0", allows: true, denies: true},
		{pattern: "github.com", source: "./app", allows: true}, // a module of the project itself
	} {
		s, err := addrs.ParseModuleSource(tt.source)
		if err != nil && strings.Contains(tt.source, "xn--") {
			s, err = source(t, "bücher.example/acme/net/aws"), nil
		}
		if err != nil {
			t.Errorf("ParseModuleSource(%q): %v", tt.source, err)
			continue
		}
		p := pattern(t, tt.pattern)
		if err := (&policy.Policy{Allow: []policy.Pattern{p}}).CheckCall(policy.Call{Source: s}); (err == nil) != tt.allows {
			t.Errorf("%q among the allowed: %q gives %v", tt.pattern, tt.source, err)
		}
		err = (&policy.Policy{Deny: []policy.Pattern{p}}).CheckCall(policy.Call{Source: s})
		if (err != nil) != tt.denies {
			t.Errorf("%q among the denied: %q gives %v", tt.pattern, tt.source, err)
		}
		var violation *policy.Violation
		if err != nil && !errors.As(err, &violation) {
			t.Errorf("%q: error %v is no *Violation", tt.source, err)
		}
	}
}

func TestBadPatterns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                    "empty",
		"https://github.com":  "transport",
		"git::github.com":     "transport",
		"git@github.com":      "user",
		"github.com/a?ref=x":  "query",
		"github.com/a b":      "space",
		"github.com//a":       "empty element",
		"github.com/../a":     `".."`,
		"github.com/./a":      `"."`,
		"github.com/[a":       "malformed",
		"git*.com":            "hostname",
		"*.*.com":             "hostname",
		"github.com:port/a":   "hostname",
		"*./a":                "hostname",
		":80/a":               "hostname",
		"github.com/a/[]b-]c": "malformed",
		"github.com/a/%7f":    "control character",
		"github.com/a%2f..":   `".."`,
		"github.com/a/%zz":    "malformed",
	} {
		if _, err := policy.ParsePattern(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParsePattern(%q) = %v, want an error with %q", text, err, want)
		}
	}
}
