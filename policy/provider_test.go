package policy_test

import (
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/policy"
)

func TestProviders(t *testing.T) {
	t.Parallel()
	p, diags := policy.Parse([]byte(`policy {
  allow_providers          = ["registry.opentofu.org/hashicorp", "*.corp.example"]
  deny_providers           = ["registry.opentofu.org/hashicorp/null"]
  weak_provider_signatures = "allow"
}`), "cotter.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if !p.AllowWeakSignatures {
		t.Error("weak signatures are not allowed")
	}
	for address, want := range map[string]string{
		"hashicorp/aws":               "",
		"hashicorp/null":              "deny_providers",
		"HashiCorp/NULL":              "deny_providers",
		"acme/cloud":                  "allow_providers",
		"reg.corp.example/acme/cloud": "",
		"reg.corp.example:8443/a/b":   "allow_providers",
		"corp.example/acme/cloud":     "allow_providers",
	} {
		provider, err := addrs.ParseProviderSource(address)
		testenv.Must(t, err)
		if got := refusedBy(t, p.CheckProvider(provider)); got != want {
			t.Errorf("CheckProvider(%s) is refused by %q, want %q", address, got, want)
		}
	}
}

// TestCheckSignature checks how policies combine. A weak signature is accepted if one policy
// allows it and no file denies it. A repository's own policy cannot allow it.
func TestCheckSignature(t *testing.T) {
	t.Parallel()
	read := func(text string) *policy.Policy {
		p, diags := policy.Parse([]byte("policy {\n"+text+"\n}\n"), "cotter.hcl")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return p
	}
	silent, allow, deny := read(""), read(`weak_provider_signatures = "allow"`), read(`weak_provider_signatures = "deny"`)
	for _, c := range []struct {
		name     string
		weak     string
		policies []*policy.Policy
		want     string
	}{
		{name: "a good signature", policies: []*policy.Policy{deny}},
		{name: "no policy", weak: "it is weak", want: "the policy does not allow it: it is weak (the argument weak_provider_signatures)"},
		{name: "one that says nothing", weak: "it is weak", policies: []*policy.Policy{silent, nil}, want: "the policy does not allow it: it is weak (the argument weak_provider_signatures)"},
		{name: "one that allows it", weak: "it is weak", policies: []*policy.Policy{allow, silent}},
		{name: "one of an embedder", weak: "it is weak", policies: []*policy.Policy{{AllowWeakSignatures: true}}},
		{name: "one of a repository that allows it", weak: "it is weak", policies: []*policy.Policy{allow.OfRepository()}, want: "the policy does not allow it: it is weak (the argument weak_provider_signatures)"},
		{name: "that one, and one of the user", weak: "it is weak", policies: []*policy.Policy{allow.OfRepository(), allow}},
		{name: "one of a repository that denies it", weak: "it is weak", policies: []*policy.Policy{deny.OfRepository(), allow}, want: "the policy does not allow it: it is weak (cotter.hcl:2, weak_provider_signatures)"},
		{name: "one that denies it", weak: "it is weak", policies: []*policy.Policy{allow, deny}, want: "the policy does not allow it: it is weak (cotter.hcl:2, weak_provider_signatures)"},
	} {
		got := ""
		if err := policy.CheckSignature(c.weak, c.policies...); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Packages that a project itself brings can be refused, by the policy of its repository too.
func TestProjectProviders(t *testing.T) {
	t.Parallel()
	for text, wantErr := range map[string]string{
		"":                            "",
		`project_providers = "allow"`: "",
		`project_providers = "deny"`:  "the policy does not allow it: the package is from this repository, unsigned (cotter.hcl:2, project_providers)",
	} {
		p, diags := policy.Parse([]byte("policy {\n"+text+"\n}"), "cotter.hcl")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		got := ""
		if err := p.OfRepository().CheckProjectProvider(); err != nil {
			got = err.Error()
		}
		if got != wantErr {
			t.Errorf("%s: %q, want %q", text, got, wantErr)
		}
	}
	if _, diags := policy.Parse([]byte(`policy { project_providers = "no" }`), "cotter.hcl"); !diags.HasErrors() {
		t.Error("another word is accepted")
	}
}
