package addrs_test

import (
	"strings"
	"testing"

	regaddr "github.com/opentofu/registry-address/v2"

	"github.com/cotterpin/cotter/addrs"
)

func TestParseProviderSource(t *testing.T) {
	t.Parallel()
	terraform := addrs.Parser{DefaultRegistryHost: addrs.TerraformRegistryHost}
	tests := []struct {
		parser              addrs.Parser
		source, full, short string
	}{
		{addrs.Parser{}, "null", "registry.opentofu.org/hashicorp/null", "hashicorp/null"},
		{addrs.Parser{}, "acme/cloud", "registry.opentofu.org/acme/cloud", "acme/cloud"},
		{addrs.Parser{}, "reg.example.com:8443/acme/cloud", "reg.example.com:8443/acme/cloud", "reg.example.com:8443/acme/cloud"},
		{terraform, "null", "registry.terraform.io/hashicorp/null", "registry.terraform.io/hashicorp/null"},
		{terraform, "registry.opentofu.org/hashicorp/null", "registry.opentofu.org/hashicorp/null", "hashicorp/null"},
	}
	for _, test := range tests {
		p, err := test.parser.ParseProviderSource(test.source)
		if err != nil || p.String() != test.full || p.ForDisplay() != test.short {
			t.Errorf("ParseProviderSource(%q) = %s (%s), %v, want %s (%s)", test.source, p, p.ForDisplay(), err, test.full, test.short)
		}
	}
}

func FuzzParseProviderSource(f *testing.F) {
	for _, seed := range []string{"null", "acme/x", "reg.example.com/acme/x", "Bücher.example/a/b", "a..b/c/d", "h:-1/a/b", "-/x", "terraform-x", "acme/opentofu-x", "terraform.io/builtin/terraform"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, parser := range []addrs.Parser{{}, {DefaultRegistryHost: addrs.TerraformRegistryHost}} {
			p, err := parser.ParseProviderSource(source)
			if err != nil {
				continue
			}
			if !parser.AcceptsFullAddress(p) && (strings.Contains(source, "/") || p.Namespace != "hashicorp") {
				t.Errorf("ParseProviderSource(%q) = %s, which is not accepted", source, p)
			}
			if stock, err := regaddr.ParseProviderSource(source); parser == (addrs.Parser{}) && (err != nil || stock.Type != p.Type || addrs.Hostname(stock.Hostname) != p.Hostname) {
				t.Errorf("ParseProviderSource(%q) = %s, the library has %s, %v", source, p, stock, err)
			}
		}
	})
}
