package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/policy"
)

func pattern(t testing.TB, text string) policy.Pattern {
	t.Helper()
	p, err := policy.ParsePattern(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func source(t testing.TB, text string) addrs.ModuleSource {
	t.Helper()
	s, err := addrs.ParseModuleSource(text)
	if err != nil {
		t.Fatal(err)
	}
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
		{"github.com", "git::https://github.com/acme/net.git?ref=v1", true, true},
		{"github.com", "github.com/acme/net//modules/x?ref=v1", true, true},
		{"github.com/acme", "git::ssh://git@github.com/acme/net.git", true, true},
		{"github.com/acme", "git@github.com:acme/net.git", true, true},
		{"github.com/acme", "git::ssh://git@github.com:22/acme/net", true, true},
		{"github.com/acme/net", "git::https://github.com/acme/net.git", true, true},
		{"github.com/acme/net.git", "git::https://github.com/acme/net", true, true},
		{"github.com/acme", "git::https://github.com./acme/net", true, true},
		{"github.com/acme", "git::https://GitHub.com/acme//x", true, true},
		{"github.com/acme", "git::https://user:secret@github.com/acme/net", true, true},
		{"github.com/acme", "https://github.com/acme/net/archive/v1.zip", true, true},
		{"github.com/acme/*/archive", "https://github.com/acme/net/archive/v1.zip", true, true},
		{"github.com/a*", "git::https://github.com/acme/net.git", true, true},
		{"github.com/acme", "git::https://github.com/%61cme/net.git", true, true},
		{"github.com/acme", "git::https://github.com/x/../acme/net.git", true, true},
		{"github.com/acme", "git::https://github.com/acmeevil/net.git", false, false},
		{"github.com/acme", "git::https://github.com.evil.example/acme/net.git", false, false},
		{"github.com/acme", "git::https://evil.example/github.com/acme/net.git", false, false},
		{"github.com/acme", "git::https://github.com@evil.example/acme/net.git", false, false},
		{"github.com/acme", "git::https://github.com/acme/../evil/net.git", false, false},
		{"github.com/acme/net", "git::https://github.com/acme", false, false},
		{"github.com/acme", "git::https://github.com/Acme/net.git", false, true},
		{"github.com/acme", "git::https://github.com:8443/acme/net.git", false, true},
		{"github.com:8443/acme", "git::https://github.com:8443/acme/net.git", true, true},
		{"github.com:8443", "git::https://github.com/acme/net.git", false, false},
		{"github.com:443", "git::https://github.com/acme/net.git", true, true},
		{"*.corp.example", "git::https://git.corp.example/net.git", true, true},
		{"*.corp.example", "git::https://a.b.corp.example/net.git", true, true},
		{"*.corp.example", "git::https://corp.example/net.git", false, false},
		{"*.corp.example", "git::https://evilcorp.example/net.git", false, false},
		{"*", "git::https://anything.example:99/net.git", true, true},
		{"*/acme", "git::https://anything.example/acme/net.git", true, true},
		{"*", "git::file:///srv/net.git", false, false},
		{"/srv", "git::file:///srv/net.git", true, true},
		{"/srv/modules", "/srv/modules/net.zip", true, true},
		{"/srv/modules", "/srv/other", false, false},
		{"registry.opentofu.org", "acme/net/aws", true, true},
		{"registry.opentofu.org/acme", "acme/net/aws//modules/x", true, true},
		{"registry.opentofu.org/acme/*/aws", "acme/net/aws", true, true},
		{"registry.opentofu.org/acme/*/aws", "acme/net/google", false, false},
		{"registry.terraform.io/acme", "acme/net/aws", false, false},
		{"registry.example.com:8080/acme", "registry.example.com:8080/acme/net/aws", true, true},
		{"bücher.example", "xn--bcher-kva.example/acme/net/aws", true, true},
		{"ghcr.io/acme", "oci://ghcr.io/acme/net?tag=1.0.0", true, true},
		{"github.com", "./app", true, false}, // a module of the project itself
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
		"":                        "empty",
		"https://github.com":      "transport",
		"git::github.com":         "transport",
		"git@github.com":          "user",
		"github.com/a?ref=x":      "query",
		"github.com/a b":          "space",
		"github.com//a":           "empty element",
		"github.com/../a":         `".."`,
		"github.com/./a":          `"."`,
		"github.com/[a":           "malformed",
		"git*.com":                "hostname",
		"*.*.com":                 "hostname",
		"github.com:port/a":       "hostname",
		"*./a":                    "hostname",
		":80/a":                   "hostname",
		"github.com/a/\x7f[]b-]c": "malformed",
	} {
		if _, err := policy.ParsePattern(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParsePattern(%q) = %v, want an error with %q", text, err, want)
		}
	}
}
