package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/policy"
)

func TestParse(t *testing.T) {
	t.Parallel()
	p, diags := policy.Parse([]byte(`policy {
  allow_sources = ["github.com/acme"]
  deny_sources = [
    "github.com/acme/attic",
  ]
  branches     = "deny"
  commits      = "reachable"
  versions     = "exact"
  credentials  = "deny"
  min_age_days = 14
}
`), "cotter.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if fmt.Sprint(p.Allow, p.Deny) != "[github.com/acme] [github.com/acme/attic]" || !p.DenyBranches || !p.ReachableCommits || !p.DenyCredentials ||
		p.Versions != policy.VersionsExact || p.MinAge != 14*24*time.Hour {
		t.Errorf("Parse = %+v", p)
	}
	for _, text := range []string{"", "# nothing\n", "policy {\n}\n", "policy {\n branches = \"allow\"\n versions = \"any\"\n commits = \"any\"\n}\n"} {
		if p, diags := policy.Parse([]byte(text), "cotter.hcl"); p == nil || diags.HasErrors() || p.DenyBranches || p.ReachableCommits || p.Declared() != strings.Contains(text, "policy") {
			t.Errorf("Parse(%q) = %+v, %v", text, p, diags)
		}
	}
}

// A policy that is only partly understood is not applied: everything unknown is an error with a
// line number.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"policy {\n alow = []\n}":                                 "cotter.hcl:2,2-6: Unsupported argument",
		"policy \"x\" {\n}":                                       "cotter.hcl:1,8-11: Extraneous label",
		"polycy {\n}":                                             "cotter.hcl:1,1-7: Unsupported block type",
		"x = 1":                                                   "cotter.hcl:1,1-2: Unsupported argument",
		"policy_only = 1":                                         "policy_only: it must be true or false",
		"policy {\n policy_only = true\n}":                        "cotter.hcl:2,2-13: Unsupported argument",
		"policy {\n}\npolicy {\n}":                                "cotter.hcl:3,1-7: Invalid policy; A file has only one policy block; the first is on line 1.",
		"policy {\n allow_sources = []\n}":                        "cotter.hcl:2,18-20: Invalid policy; allow_sources: it must be a list",
		"policy {\n allow_sources = \"github.com\"\n}":            "it must be a list",
		"policy {\n allow_sources = null\n}":                      "it must be a list",
		"policy {\n allow_sources = [null]\n}":                    "each pattern must be a string",
		"policy {\n allow_sources = [1]\n}":                       "each pattern must be a string",
		"policy {\n allow_sources = [\"https://github.com\"]\n}":  "names a transport",
		"policy {\n deny_sources = [var.hosts]\n}":                "Variables not allowed",
		"policy {\n deny_sources = [lower(\"X\")]\n}":             "Function calls not allowed",
		"policy {\n branches = true\n}":                           `it must be one of ["allow" "deny"]`,
		"policy {\n branches = \"Deny\"\n}":                       `it must be one of ["allow" "deny"]`,
		"policy {\n commits = \"deny\"\n}":                        `it must be one of ["any" "reachable"]`,
		"policy {\n versions = \"latest\"\n}":                     `it must be one of ["any" "exact" "range"]`,
		"policy {\n min_age_days = \"14\"\n}":                     "it must be a number",
		"policy {\n min_age_days = -1\n}":                         "a whole number of days",
		"policy {\n min_age_days = 1.5\n}":                        "a whole number of days",
		"policy {\n min_age_days = 1e300\n}":                      "a whole number of days",
		"policy {\n branches = \"deny\"\n branches = \"deny\"\n}": "Attribute redefined",
		"policy {":                            "cotter.hcl:1",
		"x = " + strings.Repeat("(", 100_000): "nest",
		strings.Repeat("#\n", policy.MaxSize): "more than 1048576 bytes",
	} {
		p, diags := policy.Parse([]byte(text), "cotter.hcl")
		if p != nil || !diags.HasErrors() || !strings.Contains(diags.Error(), want) {
			t.Errorf("Parse(%.60q) = %+v, %v, want an error with %q", text, p, diags, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("policy {\n allow_sources = [\"github.com/acme\"]\n min_age_days = 3\n}\n"), "git::https://github.com/acme/net.git?ref=v1")
	f.Add([]byte("policy {\n deny_sources = [\"*.x/[a-b]\"]\n branches = \"deny\"\n versions = \"exact\"\n}\n"), "acme/net/aws")
	f.Fuzz(func(t *testing.T, text []byte, address string) {
		p, diags := policy.Parse(text, "cotter.hcl")
		if (p == nil) != diags.HasErrors() {
			t.Fatalf("Parse = %v, %v", p, diags)
		}
		s, err := addrs.ParseModuleSource(address)
		if p == nil || err != nil {
			return
		}
		checked := p.CheckCall(policy.Call{Source: s, Own: true})
		denied := &policy.Policy{Deny: p.Allow}
		// An address that is allowed by a list of patterns must be denied by the same list.
		if len(p.Allow) > 0 && checked == nil && denied.CheckCall(policy.Call{Source: s}) == nil {
			if _, local := s.(addrs.ModuleSourceLocal); !local {
				t.Errorf("%q is allowed by %q and not denied by it", address, p.Allow)
			}
		}
	})
}
