package installer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestStockTool runs the available stock tools in projects that an Installer has installed. They
// must find every module, send no requests, and leave the lock unchanged.
func TestStockTool(t *testing.T) {
	t.Parallel()
	for _, dialect := range []installer.Dialect{installer.DialectTerraform, installer.DialectOpenTofu} {
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			binary, err := exec.LookPath(dialect.String())
			if err != nil {
				t.Skipf("%s is not installed", dialect)
			}
			p := world(t, nested)
			p.mustInstall(t, request{Project: installer.Project{Dialect: dialect}})
			lock, manifest := p.file(".terraform.lock.hcl"), p.file(".terraform/modules/modules.json")
			p.world.ResetRequests()
			p.stock(t, binary, "init", "-backend=false")
			p.stock(t, binary, "validate")
			p.stock(t, binary, "get")
			if requests := p.world.Requests(); len(requests) > 0 {
				t.Errorf("%s made requests: %v", dialect, requests)
			}
			if diff := cmp.Diff(lock, p.file(".terraform.lock.hcl")); diff != "" {
				t.Errorf("%s changed the lock (-before +after):\n%s", dialect, diff)
			}
			if diff := cmp.Diff(manifest, p.file(".terraform/modules/modules.json")); diff != "" {
				t.Errorf("%s changed modules.json (-before +after):\n%s", dialect, diff)
			}
			p.sameAsStock(t, binary, manifest)
		})
	}
}

// Stock tools do not support ranges in the address of a repository, but they accept what Cotter
// has installed for one.
func TestStockToolWithRange(t *testing.T) {
	t.Parallel()
	binary, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not installed")
	}
	p := world(t, `
-- config/main.tf --
module "net" {
  source = "git::https://MODTEST_HOST/git/net.git?version=~> 1.2"
}
-- git/net.git/v1.2.0/main.tf --
-- git/net.git/v1.3.0/main.tf --
`)
	result := p.mustInstall(t, request{Project: installer.Project{Dialect: installer.DialectTerraform}})
	if v := version(result, "net"); v != "1.3.0" {
		t.Errorf("installed version %s, want 1.3.0", v)
	}
	p.world.ResetRequests()
	p.stock(t, binary, "init", "-backend=false")
	p.stock(t, binary, "validate")
	if requests := p.world.Requests(); len(requests) > 0 {
		t.Errorf("terraform made requests: %v", requests)
	}
	loaded, err := p.installer().Load(t.Context(), installer.Project{Dir: p.dir}, installer.LoadOptions{})
	if err != nil || version(loaded, "net") != "1.3.0" {
		t.Errorf("Load = %+v, %v; want version 1.3.0", loaded, err)
	}
}

// sameAsStock lets the stock tool install the project and compares its modules.json.
func (p *project) sameAsStock(t *testing.T, binary, manifest string) {
	t.Helper()
	p.remove(t, ".terraform")
	p.stock(t, binary, "get")
	if diff := cmp.Diff(p.file(".terraform/modules/modules.json"), manifest); diff != "" {
		t.Errorf("modules.json (-stock +ours):\n%s", diff)
	}
}

// stock runs a stock tool in the project and fails the test if the tool fails.
func (p *project) stock(t *testing.T, binary string, args ...string) {
	t.Helper()
	p.runStock(t, p.dir, nil, binary, args...)
}

// runStock runs a stock tool in a directory and fails the test if the tool fails.
func (p *project) runStock(t *testing.T, dir string, env []string, binary string, args ...string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	empty := filepath.Join(t.TempDir(), "cli.tfrc")
	testenv.Must(t, os.WriteFile(empty, nil, 0o600))
	cmd.Env = append(append(os.Environ(), p.world.Env()...), env...)
	cmd.Env = append(cmd.Env, "TF_CLI_CONFIG_FILE="+empty, "CHECKPOINT_DISABLE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", binary, args, err, out)
	}
}
