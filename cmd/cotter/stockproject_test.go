package main

import (
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// stockProject is a project that Cotter and a stock tool use in turn.
type stockProject struct {
	*site
	tool   string // "tofu" or "terraform"
	binary string
}

// newStockProject writes a configuration, in which it replaces HOST by the world's host. The
// world is also the registry of shapeHosts. The test is skipped if the tool is not
// installed.
func newStockProject(t *testing.T, world *modtest.World, tool string, trees ...fs.FS) *stockProject {
	t.Helper()
	p := &stockProject{newSite(t, world), tool, testenv.Program(t, tool)}
	for _, tree := range trees {
		testenv.Must(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := fs.ReadFile(tree, name)
			p.write(t, name, strings.ReplaceAll(string(text), "HOST", string(world.Host())))
			return err
		}))
	}
	var config strings.Builder
	for _, host := range shapeHosts {
		fmt.Fprintf(&config, "host %q {\n  services = {\n    \"providers.v1\" = \"%s/v1/providers/\"\n    \"modules.v1\" = \"%s/v1/modules/\"\n  }\n}\n", host, world.URL(), world.URL())
	}
	testenv.WriteFile(t, filepath.Join(p.home, "cli.tfrc"), config.String())
	return p
}

// stock runs the stock tool, which must succeed.
func (p *stockProject) stock(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(p.binary, args...)
	cmd.Dir, cmd.Env = p.project, p.environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", p.tool, args, err, out)
	}
	return string(out)
}

// fresh removes everything that was installed or locked.
func (p *stockProject) fresh(t *testing.T) {
	t.Helper()
	remove(t, p.locate(".terraform"))
	remove(t, p.locate(lockFile))
}
