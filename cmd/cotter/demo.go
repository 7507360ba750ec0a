package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/process/procgroup"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/modtest"
)

// demoWorld has the content of the demo's servers, its configuration, and what an attacker puts in place
// of a module.
//
//go:embed demo.txtar
var demoWorld string

// demoTree has a provider for this machine's platform.
func demoTree() fs.FS {
	return modtest.Txtar(strings.ReplaceAll(demoWorld, "PLATFORM", addrs.CurrentPlatform().String()))
}

func demoCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "demo",
		Short: "install an example from local servers, and show a refused attack",
		Long: "The demo sends no requests to other machines, and keeps all its files in one temporary\n" +
			"directory. In a terminal, the servers run until you press Enter, so that you can try the\n" +
			"printed commands in a second terminal. Without a terminal the demo ends by itself, and\n" +
			"the printed commands work without the servers.",
	}, runDemo, nil)
}

// demo is a project in a temporary directory, with its own cache, state and environment.
type demo struct {
	*output
	world *modtest.World
	base  string
}

func (d demo) dir() string { return filepath.Join(d.base, "project") }

func runDemo(ctx context.Context, _ *invocation, out *output) (err error) {
	world, err := modtest.Start(demoTree(), modtest.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	base, err := os.MkdirTemp("", "cotter-demo-")
	if err != nil {
		return err
	}
	d := demo{out, world, base}
	if err := d.install(ctx); err != nil {
		return err
	}
	if err := d.attack(ctx); err != nil {
		return err
	}
	served := out.interactive() && view.IsTerminal(os.Stdin)
	if err := d.writeEnvironment(served); err != nil {
		return err
	}
	if !served {
		out.printf("The servers have stopped. Their packages are in the demo's cache. Try:\n\n")
		d.printCommands(false)
		return nil
	}
	out.printf("The servers run until you press Enter. Try this in a second terminal:\n\n")
	d.printCommands(true)
	awaitEnter(ctx)
	return nil
}

func (d demo) install(ctx context.Context) error {
	out, dir := d.output, d.dir()
	if err := d.world.WriteTree(dir, "config"); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "main.tf"))
	if err != nil {
		return err
	}
	out.printf("$ cat main.tf\n%s\n$ cotter install\n", view.Lines(text))
	progress := newProgress(out)
	o := d.world.Installer().Options()
	// The project links to the demo's cache. The key in the demo's state directory proves
	// that its files were written by this user.
	o.CacheDir, o.StateDir = filepath.Join(d.base, "cache"), filepath.Join(d.base, "state")
	project := installer.Project{Dir: dir, OnEvent: progress.event}
	result, err := installer.New(o).Install(ctx, project, installer.InstallOptions{Scope: installer.ScopeAll})
	progress.end()
	if err != nil {
		return err
	}
	if err := out.installed("installed", result, progress.tally); err != nil {
		return err
	}
	out.printf("\n$ cotter tree\n")
	t, err := newTree(result, request{Project: project}, false)
	if err == nil {
		err = out.tree(t, formatText, false)
	}
	if err != nil {
		return err
	}
	lock, err := os.ReadFile(filepath.Join(dir, lockfile.Name))
	if err != nil {
		return err
	}
	entry := regexp.MustCompile(`(?ms)^module "dns" \{.*?^\}\n`).Find(lock)
	out.printf("\n$ sed -n '/^module \"dns\"/,/^}/p' .terraform.lock.hcl\n%s\n", view.Lines(entry))
	return nil
}

// attack moves the tag of a module, and then installs as on a machine that has only the project's files,
// which must fail.
func (d demo) attack(ctx context.Context) error {
	files, err := fs.Sub(demoTree(), "attack")
	if err != nil {
		return err
	}
	if err := d.world.MoveTag("platform.git", "v2.1.0", files); err != nil {
		return err
	}
	clone := filepath.Join(d.base, "clone")
	if err := d.world.WriteTree(clone, "config"); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(d.dir(), lockfile.Name), filepath.Join(clone, lockfile.Name), 0o644); err != nil {
		return err
	}
	d.printf("Now someone moves the tag v2.1.0 to another commit. In CI, with the lock and no cache:\n\n$ cotter install --locked\n")
	_, err = d.world.Installer().Install(ctx, installer.Project{Dir: clone}, installer.InstallOptions{Locked: true, Scope: installer.ScopeAll})
	if err == nil {
		return errors.New("a moved tag was installed") // should never happen
	}
	reported := *d.output
	reported.stderr = reported.stdout // the error is expected, so it is not a failure of the demo
	reported.printError(err)
	d.printf("\n")
	return nil
}

const environmentFile = "env.sh"

// writeEnvironment writes the script with the demo's cache and state, the trust in its running servers, and,
// unless the cotter in PATH is this program, a copy of it: "go run" removes its program at the end.
func (d demo) writeEnvironment(served bool) error {
	var entries []string
	if served {
		entries = d.world.Env()
	}
	entries = append(entries,
		"COTTER_CACHE_DIR="+filepath.Join(d.base, "cache"),
		"COTTER_STATE_DIR="+filepath.Join(d.base, "state"))
	var text strings.Builder
	for _, entry := range entries {
		name, value, _ := strings.Cut(entry, "=")
		fmt.Fprintf(&text, "export %s=%s\n", name, view.ShellWord(value))
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	if !sameFile(own, procgroup.Find([]string{"PATH=" + d.Env("PATH")}, "cotter")) {
		bin := filepath.Join(d.base, "bin")
		if err := keepProgram(own, bin); err != nil {
			return err
		}
		fmt.Fprintf(&text, "export PATH=%s:$PATH\n", view.ShellWord(bin))
	}
	return os.WriteFile(filepath.Join(d.base, environmentFile), []byte(text.String()), 0o644)
}

func (d demo) printCommands(served bool) {
	line := func(command, what string) { d.printf("  %-22s  # %s\n", command, what) }
	d.printf("  . %s\n  cd %s\n", view.ShellWord(filepath.Join(d.base, environmentFile)), view.ShellWord(d.dir()))
	if served {
		line("cotter verify --remote", "the tag of dns has moved")
		line("cotter outdated", "network 2.0.0 is available")
	}
	line("cotter verify", "offline: do the files match the lock?")
	line("echo '# hello' >> .terraform/modules/network/main.tf", "change a file")
	line("cotter verify", "finds the change")
	line("cotter install", "restores the file from the cache")
	for _, tool := range tools(d.Env) {
		line(tool.String()+" init -plugin-dir=.terraform/providers", "finds everything in place")
		break
	}
	line("rm -rf "+view.ShellWord(d.base), "removes all files of the demo")
}

func awaitEnter(ctx context.Context) {
	entered := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		close(entered)
	}()
	select {
	case <-entered:
	case <-ctx.Done():
	}
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// keepProgram links or copies a program into a new directory under the name cotter.
func keepProgram(program, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	name := filepath.Join(dir, "cotter")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if os.Link(program, name) == nil {
		return nil
	}
	return copyFile(program, name, 0o755)
}

func copyFile(from, to string, mode fs.FileMode) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, source)
	return errors.Join(err, file.Close())
}
