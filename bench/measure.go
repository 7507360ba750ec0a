package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/cotterpin/cotter/modtest"
)

// tool is a command that installs modules.
type tool struct {
	name    string
	version string
	args    []string
	ours    bool
}

// findTools builds cotter and looks for stock binaries.
func findTools(ctx context.Context) ([]tool, func(), error) {
	dir, err := os.MkdirTemp("", "cotter-bench-")
	if err != nil {
		return nil, nil, err
	}
	cleanup := func() { _ = os.RemoveAll(dir) }
	binary := filepath.Join(dir, "cotter")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/cotter")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		cleanup()
		return nil, nil, fmt.Errorf("go build ./cmd/cotter, to be run in the top directory: %w", err)
	}
	tools := []tool{{name: "cotter", args: []string{binary, "install"}, ours: true}}
	for _, stock := range []string{"tofu", "terraform"} {
		if path, err := exec.LookPath(stock); err == nil {
			out, _ := exec.CommandContext(ctx, path, "version").Output()
			version, _, _ := bytes.Cut(out, []byte("\n"))
			tools = append(tools, tool{name: stock + " get", version: string(version), args: []string{path, "get"}})
		}
	}
	return tools, cleanup, nil
}

// row is what one tool needed in one phase of one world.
type row struct {
	world, phase, tool string
	ours               bool
	median             time.Duration
	cpu                time.Duration // of the command and all that it starts
	requests           int
	disk               int64
	peak               int64 // bytes of memory
}

func measure(ctx context.Context, w world, tools []tool, opts options) ([]row, error) {
	servers, err := modtest.Start(modtest.Txtar(w.txtar), w.opts)
	if err != nil {
		return nil, err
	}
	defer func() { _ = servers.Close() }()
	var projects []project
	for _, t := range tools {
		if w.tofuOnly && t.name == "terraform get" {
			continue
		}
		p, err := newProject(servers, t, w.roots)
		if err != nil {
			return nil, err
		}
		defer p.remove()
		projects = append(projects, p)
	}
	// Once without a delay, so that the servers have made what is lazy.
	if _, err := projects[0].run(ctx); err != nil {
		return nil, err
	}
	servers.SetFaults(modtest.Fault{Delay: opts.delay})
	var rows []row
	for _, ph := range w.phases {
		for _, p := range projects {
			r, err := p.phase(ctx, ph, opts.runs)
			if err != nil {
				return nil, err
			}
			r.world = w.name
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// project is a tool's own copy of a world's configuration.
type project struct {
	tool    tool
	servers *modtest.World
	dir     string // holds the project and everything that the tool keeps
	roots   []string
}

func newProject(servers *modtest.World, t tool, roots []string) (project, error) {
	dir, err := os.MkdirTemp("", "cotter-bench-")
	if err != nil {
		return project{}, err
	}
	p := project{t, servers, dir, roots}
	if err := os.WriteFile(p.file("cli.tfrc"), nil, 0o600); err != nil {
		return project{}, err
	}
	return p, servers.WriteTree(p.file("project"), "config")
}

func (p project) file(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }
func (p project) remove()                 { _ = os.RemoveAll(p.dir) }

// phase runs the tool several times, each time from the phase's state.
func (p project) phase(ctx context.Context, ph phase, runs int) (row, error) {
	r := row{phase: ph.name, tool: p.tool.name, ours: p.tool.ours}
	var times, cpus []time.Duration
	for range runs {
		if err := p.reset(ph); err != nil {
			return r, err
		}
		p.servers.ResetRequests()
		u, err := p.run(ctx)
		if err != nil {
			return r, err
		}
		times, cpus = append(times, u.elapsed), append(cpus, u.cpu)
		r.peak = max(r.peak, u.peak)
	}
	slices.Sort(times)
	slices.Sort(cpus)
	r.median, r.cpu = times[len(times)/2], cpus[len(cpus)/2]
	r.requests = len(p.servers.Requests())
	var err error
	for _, root := range p.rootDirs() {
		disk, diskErr := diskUsage(p.file(root + "/.terraform"))
		r.disk, err = r.disk+disk, errors.Join(err, diskErr)
	}
	return r, err
}

func (p project) reset(ph phase) error {
	var gone []string
	if !ph.keepCache {
		gone = append(gone, "cache")
	}
	for _, root := range p.rootDirs() {
		if !ph.keepInstalled {
			gone = append(gone, root+"/.terraform")
		}
		if !ph.keepCache {
			gone = append(gone, root+"/.terraform.lock.hcl")
		}
	}
	var err error
	for _, name := range gone {
		err = errors.Join(err, os.RemoveAll(p.file(name)))
	}
	return err
}

// rootDirs are the project's directories with a configuration of their own.
func (p project) rootDirs() []string {
	if p.roots == nil {
		return []string{"project"}
	}
	var dirs []string
	for _, root := range p.roots {
		dirs = append(dirs, "project/"+root)
	}
	return dirs
}

// usage is what one run needed.
type usage struct {
	elapsed, cpu time.Duration
	peak         int64 // bytes of memory
}

// run runs the tool: for many roots in a loop, unless it knows better.
func (p project) run(ctx context.Context) (sum usage, err error) {
	if p.tool.ours && p.roots != nil {
		return p.command(ctx, "project", "--recursive")
	}
	for _, dir := range p.rootDirs() {
		once, err := p.command(ctx, dir)
		if err != nil {
			return usage{}, err
		}
		sum.elapsed, sum.cpu, sum.peak = sum.elapsed+once.elapsed, sum.cpu+once.cpu, max(sum.peak, once.peak)
	}
	return sum, nil
}

func (p project) command(ctx context.Context, dir string, args ...string) (u usage, err error) {
	cmd := exec.CommandContext(ctx, p.tool.args[0], append(slices.Clone(p.tool.args[1:]), args...)...)
	cmd.Dir = p.file(dir)
	cmd.Env = append(os.Environ(), p.servers.Env()...)
	cmd.Env = append(cmd.Env, "COTTER_CACHE_DIR="+p.file("cache"), "TF_CLI_CONFIG_FILE="+p.file("cli.tfrc"), "CHECKPOINT_DISABLE=1", "CI=")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	memory := watchMemory(cmd.Process.Pid)
	err = cmd.Wait()
	u.elapsed, u.peak = time.Since(start), memory()
	if err != nil {
		return usage{}, fmt.Errorf("%s: %w\n%s", p.tool.name, err, &out)
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return u, nil
}

// diskUsage is the sum of the sizes of the files below a directory.
func diskUsage(dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
