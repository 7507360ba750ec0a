package policy_test

import (
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
		{pattern: "bücher.example", source: "bücher.example/acme/net/aws", allows: true, denies: true},
		{pattern: "ghcr.io/acme", source: "oci://ghcr.io/acme/net?tag=1.0.0", allows: true, denies: true},
		{pattern: "github.com", source: "./app", allows: true}, // a module of the project itself

		// Servers may read these paths in several ways. An allowed pattern matches only the literal reading, and a
		// denied one matches all of them.
		{pattern: "h.example/evil", source: "https://h.example/evil.GIT", denies: true},
		{pattern: "h.example/evil", source: "https://h.example/evil%20/x.zip", denies: true},
		{pattern: "h.example/evil", source: "https://h.example/evil;x/x.zip", denies: true},
		{pattern: "h.example/evil", source: "https://h.example/evil.git;x%20/x.zip", denies: true},
		{pattern: "h.example/evil", source: "https://h.example/evil%2Fx.zip", denies: true},
		{pattern: "h.example/evil", source: "https://h.example/evil%252Fx.zip"},
		{pattern: "h.example/acme", source: "https://h.example/acme%2Fx.zip", denies: true},
		{pattern: "h.example/acme%2Fnet", source: "https://h.example/acme%2fnet/x.zip", allows: true, denies: true},
		{pattern: "gitlab.com/api/v4/projects/*/repository", source: "https://gitlab.com/api/v4/projects/acme%2Fnet/repository/archive.tar.gz", allows: true, denies: true},
		{pattern: "dev.azure.com/acme/My%20Project", source: "git::https://dev.azure.com/acme/My%20Project/_git/net", allows: true, denies: true},
		{pattern: "h.example/a;b", source: "https://h.example/a;b/x.zip", allows: true, denies: true},
		{pattern: "h.example/acme", source: "git::ssh://git@h.example/acme%2Fnet.git", allows: true, denies: true}, // git decodes it
		{pattern: "/srv/a%20b", source: "/srv/a%20b/x.zip", allows: true, denies: true},
		{pattern: "/srv/a", source: "/srv/b/../a/x.zip", allows: true, denies: true},
		{pattern: "/srv/b", source: "/srv/b/../a/x.zip"},
	} {
		checkPattern(t, tt.pattern, source(t, tt.source), tt.allows, tt.denies)
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
