package configs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/configs"
)

// TestEmpty distinguishes directories with configuration from those without.
func TestEmpty(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name            string
		files           []string
		tofu, terraform bool // whether the directory is empty
	}{
		{"nothing", nil, true, true},
		{"configuration", []string{"main.tf"}, false, false},
		{"JSON", []string{"main.tf.json"}, false, false},
		{"tofu's own", []string{"main.tofu"}, false, true},
		{"override alone", []string{"override.tf"}, false, false},
		{"other files", []string{"README.md", "main.tf~", ".main.tf", "terraform.tfvars", ".terraform.lock.hcl"}, true, true},
		{"below", []string{"modules/net/main.tf"}, true, true},
		{"a directory of such a name", []string{"x.tf/README.md"}, true, true},
		{"test", []string{"main.tftest.hcl"}, false, false},
		{"tofu's test", []string{"main.tofutest.hcl"}, false, true},
		{"test below", []string{"tests/main.tftest.hcl"}, false, false},
		{"no test below", []string{"tests/main.tf"}, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, name := range test.files {
				name = filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for terraform, want := range map[bool]bool{false: test.tofu, true: test.terraform} {
				reader := configs.Reader{Terraform: terraform}
				got, err := reader.Empty(configs.Dir{Path: dir, Tests: configs.DefaultTests})
				if err != nil || got != want {
					t.Errorf("Terraform %v: Empty = %v, %v; want %v", terraform, got, err, want)
				}
			}
		})
	}
	if empty, err := (configs.Reader{}).Empty(configs.Dir{Path: filepath.Join(t.TempDir(), "none")}); empty || err == nil {
		t.Errorf("a directory that does not exist: Empty = %v, %v; want an error", empty, err)
	}
}
