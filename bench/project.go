package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/cotterpin/cotter/bench/internal/report"
	"github.com/cotterpin/cotter/modtest"
)

// stockSample is over how many of many root modules stock tools are looped.
const stockSample = 10

// project is a tool's own copy of a world's configuration.
type project struct {
	place   workplace
	tool    tool
	servers *modtest.World
	dir     string // holds the project and everything that the tool keeps
	roots   []string
	sample  int // how many of the roots; 0 means all
}

func newProject(place workplace, servers *modtest.World, t tool, roots []string) (project, error) {
	dir, err := place.newDir()
	if err != nil {
		return project{}, err
	}
	p := project{place: place, tool: t, servers: servers, dir: dir, roots: roots}
	if !t.ours && roots != nil {
		p.sample = stockSample
	}
	if err := os.WriteFile(p.file("cli.tfrc"), nil, 0o600); err != nil {
		return p, err
	}
	return p, servers.WriteTree(p.file("project"), "config")
}

func (p project) file(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// reset makes the phase's state.
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
		err = errors.Join(err, p.place.discard(p.file(name)))
	}
	return err
}

// rootDirs are the project's directories with a configuration of their own, or
// an even sample of them.
func (p project) rootDirs() []string {
	if p.roots == nil {
		return []string{"project"}
	}
	n := len(p.roots)
	if p.sample > 0 {
		n = p.sample
	}
	var dirs []string
	for i := range n {
		dirs = append(dirs, "project/"+p.roots[i*len(p.roots)/n])
	}
	return dirs
}

// finish adds what is left on disk to a row, and multiplies a sample's.
func (p project) finish(row *report.Row) error {
	var err error
	for _, root := range p.rootDirs() {
		used, diskErr := diskUsage(p.file(root + "/.terraform"))
		row.Disk, err = row.Disk+used, errors.Join(err, diskErr)
	}
	if p.tool.ours {
		used, diskErr := diskUsage(p.file("cache"))
		row.Cache, err = used, errors.Join(err, diskErr)
	}
	if p.sample == 0 || err != nil {
		return err
	}
	row.Sample, row.Whole = p.sample, len(p.roots)
	for _, d := range []*time.Duration{&row.Median, &row.Lowest, &row.Highest, &row.CPU} {
		*d = *d * time.Duration(row.Whole) / time.Duration(row.Sample)
	}
	for _, n := range []*int64{&row.Received, &row.Disk} {
		*n = *n * int64(row.Whole) / int64(row.Sample)
	}
	for _, n := range []*int{&row.Requests, &row.Discovery, &row.Repeats} {
		*n = *n * row.Whole / row.Sample
	}
	return nil
}

// measured is run with what the servers had to do.
func (p project) measured(ctx context.Context) (usage, error) {
	p.servers.ResetRequests()
	before := p.servers.BytesSent()
	u, err := p.run(ctx)
	u.received, u.requests = p.servers.BytesSent()-before, p.servers.Requests()
	return u, err
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
	cmd.Env = append(cmd.Env, "COTTER_CACHE_DIR="+p.file("cache"), "COTTER_STATE_DIR="+p.file("state"), "TF_CLI_CONFIG_FILE="+p.file("cli.tfrc"), "CHECKPOINT_DISABLE=1", "CI=")
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
