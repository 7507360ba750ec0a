package installer_test

import (
	"strings"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
)

const callOfChild = "module \"c\" {\n  source = \"./c\"\n}\n"

// pooledRows are cases in which several modules require a provider. The expected text has the
// constraints of each provider and the places that require it.
var pooledRows = []struct {
	name  string
	files map[string]string
	want  []string
}{
	{
		"constraints of two modules",
		map[string]string{
			"main.tf":   required(`x = { source = "acme/x", version = ">= 1.0" }`) + callOfChild,
			"c/main.tf": required(`x = { source = "acme/x", version = "< 2.0" }`),
		},
		[]string{"acme/x >= 1.0.0, < 2.0.0 | the root module (main.tf:3): >= 1.0 | module c (c/main.tf:3): < 2.0"},
	},
	{
		"constraints that no version meets are no error yet",
		map[string]string{
			"main.tf":   required(`x = { source = "acme/x", version = ">= 2.0" }`) + callOfChild,
			"c/main.tf": required(`x = { source = "acme/x", version = "< 2.0" }`),
		},
		[]string{"acme/x >= 2.0.0, < 2.0.0 | the root module (main.tf:3): >= 2.0 | module c (c/main.tf:3): < 2.0"},
	},
	{
		"nothing is inherited",
		map[string]string{
			"main.tf":   required(`x = { source = "acme/x" }`) + callOfChild,
			"c/main.tf": "resource \"x_thing\" \"a\" {}\nresource \"x_thing\" \"b\" {}\n",
		},
		[]string{"acme/x | the root module (main.tf:3)", "hashicorp/x | module c (c/main.tf:1)"},
	},
	{
		"providers that a call passes",
		map[string]string{
			"main.tf":   required(`x = { source = "acme/x" }`) + "module \"c\" {\n  source    = \"./c\"\n  providers = { x = x }\n}\n",
			"c/main.tf": required(`x = {`, `  source                = "acme/x"`, `  configuration_aliases = [x.west]`, `}`),
		},
		[]string{"acme/x | the root module (main.tf:3) | module c (c/main.tf:3)"},
	},
	{
		"another local name, and other letters",
		map[string]string{
			"main.tf":   required(`x = { source = "acme/x", version = "1.5.0" }`) + callOfChild,
			"c/main.tf": required(`zz = { source = "Acme/X", version = "~> 1.0" }`),
		},
		[]string{"acme/x ~> 1.0, 1.5.0 | the root module (main.tf:3): 1.5.0 | module c (c/main.tf:3): ~> 1.0"},
	},
	{
		"a module that is called zero times, and twice",
		map[string]string{
			"main.tf":   "module \"c\" {\n  source = \"./c\"\n  count  = 0\n}\nmodule \"d\" {\n  source = \"./c\"\n}\n",
			"c/main.tf": "data \"x_thing\" \"a\" {}\n",
		},
		[]string{"hashicorp/x | module c (c/main.tf:1) | module d (c/main.tf:1)"},
	},
	{
		"modules that tests run",
		map[string]string{
			"main.tf":               "resource \"x_thing\" \"a\" {}\n",
			"main.tftest.hcl":       "mock_provider \"m\" {}\nrun \"a\" {\n  module {\n    source = \"./testing/setup\"\n  }\n}\n",
			"testing/setup/main.tf": required(`s = { source = "acme/s", version = "1.0.0" }`),
		},
		[]string{"acme/s 1.0.0 | module test.main.a (testing/setup/main.tf:3): 1.0.0", "hashicorp/x | the root module (main.tf:1)"},
	},
}

func TestPooledProviders(t *testing.T) {
	t.Parallel()
	for _, row := range pooledRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			found, err := loadProviders(t.Context(), (installer.New(installer.Options{})), request{Project: installer.Project{Dir: writeProject(t, row.files, "")}})
			testenv.Must(t, err)
			var got []string
			for _, p := range found {
				text := strings.TrimSpace(p.Address.ForDisplay() + " " + p.Constraints.String())
				for _, use := range p.RequiredBy {
					text += " | " + use.String()
				}
				got = append(got, text)
			}
			if strings.Join(got, "\n") != strings.Join(row.want, "\n") {
				t.Errorf("Load = %q, want %q", got, row.want)
			}
		})
	}
}
