package modtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// The real terraform must be able to install from the servers. Otherwise the servers do not
// behave like real ones.
func TestTerraformGet(t *testing.T) {
	t.Parallel()
	terraform := testenv.Program(t, "terraform")
	// Each option is used in at least one of the worlds. The options of a world do not affect
	// each other.
	tests := map[string]modtest.Options{
		"git": {},
		"git, header, annotated tags, old server": {HeaderLocations: true, AnnotatedTags: true, RefuseCommits: true},
		"archives, header, token, registry fails at first": {
			Archives: true, HeaderLocations: true, Token: "s3cret", Faults: []modtest.Fault{{Path: "/v1/modules/", Status: 503, Times: 1}},
		},
	}
	for name, opts := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := modtest.NewWith(t, modtest.TxtarFile(t, "testdata/terraform.txtar"), opts)
			dir := world.Dir(t, "config")
			config := fmt.Sprintf("credentials %q {\n  token = \"s3cret\"\n}\n", world.Host())
			runStock(t, world, dir, config, terraform, "get")
			for name, want := range map[string]string{
				"net/main.tf":          "# 1.10.0\n",
				"mono/network/main.tf": "# mono\n",
				"zip/main.tf":          "# zip\n",
				"net.inner/sub/in.tf":  "# inner\n",
			} {
				got, err := os.ReadFile(filepath.Join(dir, ".terraform", "modules", name))
				if err != nil || string(got) != want {
					t.Errorf("installed %s = %q, %v, want %q", name, got, err, want)
				}
			}
		})
	}
}

// runStock runs a tool with a separate CLI configuration, so that the result does not depend on the user's settings.
func runStock(t *testing.T, world *modtest.World, dir, config, tool string, args ...string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "test.tfrc")
	testenv.Must(t, os.WriteFile(name, []byte(config), 0o600))
	cmd := exec.CommandContext(t.Context(), tool, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+name, "HOME="+t.TempDir())
	cmd.Env = append(cmd.Env, world.Env()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s\n%s", tool, args, err, out, config)
	}
}
