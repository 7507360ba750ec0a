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
	"syscall"
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
	projects := make([]project, len(tools))
	for i, t := range tools {
		if projects[i], err = newProject(servers, t); err != nil {
			return nil, err
		}
		defer projects[i].remove()
		// Once without a delay, so that the servers have made what is lazy.
		if _, _, err := projects[i].run(ctx); err != nil {
			return nil, err
		}
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
}

func newProject(servers *modtest.World, t tool) (project, error) {
	dir, err := os.MkdirTemp("", "cotter-bench-")
	if err != nil {
		return project{}, err
	}
	p := project{t, servers, dir}
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
	var times []time.Duration
	for range runs {
		if err := p.reset(ph); err != nil {
			return r, err
		}
		p.servers.ResetRequests()
		elapsed, peak, err := p.run(ctx)
		if err != nil {
			return r, err
		}
		times = append(times, elapsed)
		r.peak = max(r.peak, peak)
	}
	slices.Sort(times)
	r.median = times[len(times)/2]
	r.requests = len(p.servers.Requests())
	var err error
	r.disk, err = diskUsage(p.file("project/.terraform"))
	return r, err
}

func (p project) reset(ph phase) error {
	var gone []string
	if !ph.keepInstalled {
		gone = append(gone, "project/.terraform")
	}
	if !ph.keepCache {
		gone = append(gone, "cache", "project/.terraform.lock.hcl")
	}
	var err error
	for _, name := range gone {
		err = errors.Join(err, os.RemoveAll(p.file(name)))
	}
	return err
}

func (p project) run(ctx context.Context) (elapsed time.Duration, peak int64, err error) {
	cmd := exec.CommandContext(ctx, p.tool.args[0], p.tool.args[1:]...)
	cmd.Dir = p.file("project")
	cmd.Env = append(os.Environ(), p.servers.Env()...)
	cmd.Env = append(cmd.Env, "COTTER_CACHE_DIR="+p.file("cache"), "TF_CLI_CONFIG_FILE="+p.file("cli.tfrc"), "CHECKPOINT_DISABLE=1", "CI=")
	start := time.Now()
	out, err := cmd.CombinedOutput()
	elapsed = time.Since(start)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w\n%s", p.tool.name, err, out)
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = usage.Maxrss << 10 // Linux counts KiB
	}
	return elapsed, peak, nil
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
