package installer_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/registryclient"
)

// A registry address without a host belongs to the registry of the project's tool.
func TestDialect(t *testing.T) {
	t.Parallel()
	const provider = "provider \"registry.HOST/hashicorp/null\" {\n  version = \"3.2.1\"\n}\n"
	tests := []struct {
		name    string
		asked   installer.Dialect
		files   map[string]string
		want    installer.Dialect
		records string
	}{
		{name: "nothing tells", want: installer.DialectOpenTofu, records: "registry.opentofu.org/acme/network/aws"},
		{name: "asked for", asked: installer.DialectTerraform, want: installer.DialectTerraform, records: "registry.terraform.io/acme/network/aws"},
		{
			name:  "a provider of terraform's",
			files: map[string]string{".terraform.lock.hcl": strings.Replace(provider, "HOST", "terraform.io", 1)},
			want:  installer.DialectTerraform, records: "registry.terraform.io/acme/network/aws",
		},
		{
			name: "tofu files beside a manifest of terraform's",
			files: map[string]string{
				"extra.tofu":                      "",
				".terraform/modules/modules.json": `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"x","Source":"registry.terraform.io/a/b/c","Version":"1.0.0","Dir":"x"}]}`,
			},
			want: installer.DialectOpenTofu, records: "registry.opentofu.org/acme/network/aws",
		},
		{
			name:  "a manifest of terraform's",
			files: map[string]string{".terraform/modules/modules.json": `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"x","Source":"registry.terraform.io/a/b/c","Version":"1.0.0","Dir":"x"}]}`},
			want:  installer.DialectTerraform, records: "registry.terraform.io/acme/network/aws",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, "-- config/main.tf --\nmodule \"network\" {\n  source = \"acme/network/aws\"\n}\n-- registry/acme/network/aws/1.0.0/main.tf --\n")
			for name, text := range test.files {
				p.write(t, name, text)
			}
			in := p.installer()
			here := map[string]any{"modules.v1": p.world.URL() + "/v1/modules/"}
			in = with(in, func(o *installer.Options) {
				o.Registry = &registryclient.Client{
					Services: &disco.Client{ForcedServices: map[addrs.Hostname]map[string]any{
						addrs.DefaultRegistryHost:   here,
						addrs.TerraformRegistryHost: here,
					}},
					HTTPClient: p.world.HTTPClient(),
				}
			})
			result, err := in.Install(context.Background(), installer.Project{Dir: p.dir, Dialect: test.asked}, installer.InstallOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if result.Dialect != test.want {
				t.Errorf("the dialect is %s, want %s", result.Dialect, test.want)
			}
			for _, file := range []string{".terraform.lock.hcl", ".terraform/modules/modules.json"} {
				if text := p.file(file); !strings.Contains(text, `"`+test.records+`"`) {
					t.Errorf("%s does not have %q:\n%s", file, test.records, text)
				}
			}
			again, err := in.Install(context.Background(), installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true})
			if err != nil || again.Dialect != test.want {
				t.Errorf("a second install = %v, %v; want the same dialect", again, err)
			}
		})
	}
}
