package policy_test

import (
	"testing"

	"github.com/cotterpin/cotter/addrs"
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
		if err != nil {
			t.Fatal(err)
		}
		if got := refusedBy(t, p.CheckProvider(provider)); got != want {
			t.Errorf("CheckProvider(%s) is refused by %q, want %q", address, got, want)
		}
	}
	var none *policy.Policy
	if err := none.CheckProvider(addrs.Provider{}); err != nil {
		t.Errorf("without a policy: %v", err)
	}
}
