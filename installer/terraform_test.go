package installer_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
)

// Stock tools do not support ranges in the address of a repository, but they accept what Cotter
// has installed for one.
func TestStockToolWithRange(t *testing.T) {
	t.Parallel()
	binary := testenv.Program(t, "terraform")
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
	cmd.Env = append(append(os.Environ(), p.world.Env()...), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", binary, args, err, out)
	}
}
