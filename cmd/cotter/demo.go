package main

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/modtest"
)

// demoWorld is what the demo's servers have, and its configuration.
//
//go:embed demo.txtar
var demoWorld string

// demoTree is what the demo's servers have, with a provider for this machine.
func demoTree() fs.FS {
	return modtest.Txtar(strings.ReplaceAll(demoWorld, "PLATFORM", addrs.CurrentPlatform().String()))
}

func demoCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "install an example from servers in this process, without network access",
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return runDemo(ctx, out)
		},
	}
}

func runDemo(ctx context.Context, out *output) (err error) {
	world, err := modtest.Start(demoTree(), modtest.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	base, err := os.MkdirTemp("", "cotter-demo-")
	if err != nil {
		return err
	}
	dir := filepath.Join(base, "project")
	if err := world.WriteTree(dir, "config"); err != nil {
		return err
	}
	if err := out.showFile(dir, "main.tf"); err != nil {
		return err
	}
	out.printf("$ cotter install\n")
	progress := newProgress(out)
	in := world.Installer()
	// The project has links to the cache, which therefore stays. The user's key makes
	// what is installed the user's own, so that the commands to try next verify it.
	in.CacheDir = filepath.Join(base, "cache")
	in.StateDir, in.OnEvent = cliconfig.OSEnvironment().StateDir(), progress.event
	result, err := in.Install(ctx, cotter.Request{Dir: dir, Providers: &cotter.Providers{}})
	progress.end()
	if err != nil {
		return err
	}
	if err := out.installed("installed", result, progress.tally); err != nil {
		return err
	}
	out.printf("\n$ cotter tree\n")
	out.tree(result)
	out.printf("\n")
	if err := out.showFile(dir, ".terraform.lock.hcl"); err != nil {
		return err
	}
	out.demoNext(base, dir)
	return nil
}

func (o *output) showFile(dir, name string) error {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	o.printf("$ cat %s\n%s\n", name, lines(text))
	return nil
}

// demoNext says what can be tried on the installed example. The servers end
// with the demo: all of it works without them, by the cache.
func (o *output) demoNext(base, dir string) {
	o.printf(`The configuration is in %s, and its servers are gone now. Try:

  export COTTER_CACHE_DIR=%s
  cd %s
  cotter verify                    # offline: are the bytes those of the lock?
  echo '# hello' >> %s
  cotter verify                    # names the file that you changed
  cotter install                   # replaces it from the cache
  terraform init -plugin-dir=.terraform/providers   # or tofu: finds everything in place
`, dir, filepath.Join(base, "cache"), dir, filepath.Join(".terraform", "modules", "network", "main.tf"))
}
