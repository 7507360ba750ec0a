package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

// stockProject is a project that Cotter and a stock tool use in turn.
type stockProject struct {
	world  *modtest.World
	tool   string // "tofu" or "terraform"
	binary string
	dir    string
	env    []string
}

// newStockProject writes a configuration, in which it replaces HOST by the world's host. The
// world is also the registry of shapeHosts. The test is skipped if the tool is not
// installed.
func newStockProject(t *testing.T, world *modtest.World, tool string, trees ...fs.FS) *stockProject {
	t.Helper()
	binary, err := exec.LookPath(tool)
	if err != nil {
		t.Skipf("%s is not installed", tool)
	}
	top := t.TempDir()
	p := &stockProject{world: world, tool: tool, binary: binary, dir: filepath.Join(top, "project")}
	for _, tree := range trees {
		p.write(t, tree)
	}
	var config strings.Builder
	for _, host := range shapeHosts {
		fmt.Fprintf(&config, "host %q {\n  services = {\n    \"providers.v1\" = \"%s/v1/providers/\"\n    \"modules.v1\" = \"%s/v1/modules/\"\n  }\n}\n", host, world.URL(), world.URL())
	}
	name := filepath.Join(top, "cli.tfrc")
	writeText(t, name, config.String())
	p.env = append(append(os.Environ(), world.Env()...),
		"TF_CLI_CONFIG_FILE="+name, "TF_PLUGIN_CACHE_DIR=", "CHECKPOINT_DISABLE=1", "HOME="+top, "CI=", "NO_COLOR=1",
		"COTTER_CACHE_DIR="+p.cache(), "COTTER_STATE_DIR="+filepath.Join(top, "state"))
	return p
}

func (p *stockProject) write(t *testing.T, tree fs.FS) {
	t.Helper()
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(p.dir, filepath.FromSlash(name))
		if entry.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, []byte(strings.ReplaceAll(string(text), "HOST", string(p.world.Host()))), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// cotter runs Cotter, which must succeed.
func (p *stockProject) cotter(t *testing.T, args ...string) string {
	t.Helper()
	return p.run(t, cotterBinary, args...)
}

// stock runs the stock tool, which must succeed.
func (p *stockProject) stock(t *testing.T, args ...string) string {
	t.Helper()
	return p.run(t, p.binary, args...)
}

func (p *stockProject) run(t *testing.T, binary string, args ...string) string {
	t.Helper()
	out, err := p.try(binary, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", filepath.Base(binary), args, err, out)
	}
	return out
}

// try runs a command in the project.
func (p *stockProject) try(binary string, args ...string) (string, error) {
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// fresh removes everything that was installed or locked.
func (p *stockProject) fresh(t *testing.T) {
	t.Helper()
	remove(t, filepath.Join(p.dir, ".terraform"))
	remove(t, filepath.Join(p.dir, lockFile))
}

func (p *stockProject) cache() string { return filepath.Join(filepath.Dir(p.dir), "cache") }

func (p *stockProject) lock(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
