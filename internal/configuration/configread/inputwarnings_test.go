package configread_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/testenv"
)

// Stock tools stop at inputs that an installation does not need: Read warns of them.
func TestInputWarnings(t *testing.T) {
	t.Parallel()
	const constant = "variable \"x\" {\n  type  = string\n  const = true\n}\n"
	for name, test := range map[string]struct {
		main, link string
		inputs     config.Inputs
		want       []string
	}{
		"dangling":                 {link: "x.auto.tfvars", want: []string{"x.auto.tfvars:1: Dangling link"}},
		"dangling JSON":            {link: "x.auto.tfvars.json", want: []string{"x.auto.tfvars.json:1: Dangling link"}},
		"not read by itself":       {link: "x.tfvars"},
		"read if it exists":        {link: "terraform.tfvars"},
		"constant":                 {main: constant, want: []string{"main.tf:1: Constant variable without a value"}},
		"constant of environment":  {main: constant, inputs: config.Inputs{Environment: map[string]string{"x": "1"}}},
		"constant of command line": {main: constant, inputs: config.Inputs{Variables: []config.Variable{{Name: "x", Value: "1"}}}},
		"not constant":             {main: "variable \"x\" {\n  const = false\n}\n"},
		"a default":                {main: "variable \"x\" {\n  const   = true\n  default = 1\n}\n"},
		"constant is not literal":  {main: "variable \"x\" {\n  const = local.y\n}\n", want: []string{"main.tf:1: Variables not allowed"}},
		"constant is no flag":      {main: "variable \"x\" {\n  const = 1\n}\n", want: []string{"main.tf:1: Invalid variable"}},
		"constant in a comment":    {main: "# const = true\nvariable \"x\" {\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testenv.WriteFile(t, filepath.Join(dir, "main.tf"), test.main)
			if test.link != "" {
				if err := os.Symlink("nowhere", filepath.Join(dir, test.link)); err != nil {
					t.Skip(err)
				}
			}
			_, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: dir, Display: ".", Tree: configread.NewTree(test.inputs)})
			var got []string
			for _, diag := range diags {
				got = append(got, diag.Subject.Filename+":1: "+diag.Summary)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}
