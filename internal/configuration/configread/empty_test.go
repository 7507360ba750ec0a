package configread_test

import (
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestEmpty(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name            string
		files           []string
		tofu, terraform bool // whether the directory is empty
	}{
		{name: "nothing", tofu: true, terraform: true},
		{name: "configuration", files: []string{"main.tf"}},
		{name: "JSON", files: []string{"main.tf.json"}},
		{name: "tofu's own", files: []string{"main.tofu"}, terraform: true},
		{name: "override alone", files: []string{"override.tf"}},
		{name: "other files", files: []string{"README.md", "main.tf~", ".main.tf", "terraform.tfvars", ".terraform.lock.hcl"}, tofu: true, terraform: true},
		{name: "below", files: []string{"modules/net/main.tf"}, tofu: true, terraform: true},
		{name: "a directory of such a name", files: []string{"x.tf/README.md"}, tofu: true, terraform: true},
		{name: "test", files: []string{"main.tftest.hcl"}},
		{name: "tofu's test", files: []string{"main.tofutest.hcl"}, terraform: true},
		{name: "test below", files: []string{"tests/main.tftest.hcl"}},
		{name: "no test below", files: []string{"tests/main.tf"}, tofu: true, terraform: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, name := range test.files {
				testenv.WriteFile(t, filepath.Join(dir, filepath.FromSlash(name)), "")
			}
			for terraform, want := range map[bool]bool{false: test.tofu, true: test.terraform} {
				reader := configread.Reader{Terraform: terraform}
				got, err := reader.Empty(configread.Dir{Path: dir, Tests: configread.DefaultTests})
				if err != nil || got != want {
					t.Errorf("Terraform %v: Empty = %v, %v; want %v", terraform, got, err, want)
				}
			}
		})
	}
	if empty, err := (configread.Reader{}).Empty(configread.Dir{Path: filepath.Join(t.TempDir(), "none")}); empty || err == nil {
		t.Errorf("a directory that does not exist: Empty = %v, %v; want an error", empty, err)
	}
}
