package policy_test

import (
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/policy"
)

func Example() {
	p, diags := policy.Parse([]byte(`
policy {
  allow_sources = ["registry.opentofu.org/acme", "github.com/acme"]
  branches      = "deny"
}
`), "cotter.hcl")
	if diags.HasErrors() {
		fmt.Println(diags)
		return
	}
	for _, address := range []string{"acme/network/aws", "git@github.com:acme/dns.git", "git::https://git.example.com/dns.git?ref=v1.0.0"} {
		source, err := addrs.ParseModuleSource(address)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.CheckCall(policy.Call{Source: source, Own: true}))
	}
	// Output:
	// <nil>
	// the policy does not allow it: without "ref" the address means a branch; name a tag or a commit (cotter.hcl:4, branches)
	// the policy does not allow it: git.example.com/dns is not among the allowed sources (cotter.hcl:3, allow_sources)
}

func ExampleParseSettings() {
	found, diags := policy.ParseSettings([]byte(`
settings {
  for       = "tofu"
  lock_file = "modules.lock.hcl"
  platforms = ["linux_amd64", "darwin_arm64"]
}
`), "cotter.hcl")
	if diags.HasErrors() {
		fmt.Println(diags)
		return
	}
	fmt.Println(found.For, found.LockFile, found.Platforms)
	// Output:
	// tofu modules.lock.hcl [linux_amd64 darwin_arm64]
}
