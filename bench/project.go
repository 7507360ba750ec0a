package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/bench/internal/report"
)

// stockSample is the number of roots that stock tools run in, of many.
const stockSample = 10

// project is a tool's own copy of a configuration.
type project struct {
	place   workplace
	tool    tool
	servers servers
	dir     string // holds the project and everything that the tool keeps
	roots   []string
	sample  int // the number of roots to run in; 0 means all
	phase   phase
}

func newProject(place workplace, servers servers, t tool, part part) (project, error) {
	dir, err := place.newDir()
	if err != nil {
		return project{}, err
	}
	p := project{place: place, tool: t, servers: servers, dir: dir, roots: part.roots}
	if !t.ours && part.roots != nil {
		p.sample = stockSample
	}
	if err := os.WriteFile(p.file("cli.tfrc"), []byte(servers.CLIConfig()), 0o600); err != nil {
		return p, err
	}
	for _, ph := range part.phases {
		for _, name := range p.in(ph).copies()[1:] {
			if err := servers.WriteTree(p.file(name), "config"); err != nil {
				return p, err
			}
		}
	}
	return p, servers.WriteTree(p.file("project"), "config")
}

func (p project) in(ph phase) project {
	p.phase = ph
	return p
}

// command is without flags.
func (p project) command() string {
	words := []string{p.tool.name}
	for _, arg := range p.phase.work.of(p.tool) {
		if !strings.HasPrefix(arg, "-") {
			words = append(words, arg)
		}
	}
	return strings.Join(words, " ")
}

// copies are installed at the same time.
func (p project) copies() []string {
	names := []string{"project"}
	for i := 1; i < p.phase.projects; i++ {
		names = append(names, fmt.Sprintf("project%d", i))
	}
	return names
}

func (p project) file(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// reset discards what the phase does not keep.
func (p project) reset() error {
	ph := p.phase
	var gone []string
	if !ph.keepCache {
		gone = append(gone, "cache", "plugins")
	}
	for _, root := range p.rootDirs() {
		if !ph.keepInstalled {
			gone = append(gone, root+"/.terraform")
		}
		if !ph.keepLock {
			gone = append(gone, root+"/.terraform.lock.hcl")
		}
	}
	var err error
	for _, name := range gone {
		err = errors.Join(err, p.place.discard(p.file(name)))
	}
	return errors.Join(err, os.MkdirAll(p.file("plugins"), 0o755)) //nolint:gosec // it is no secret
}

// rootDirs returns the root modules, or an evenly distributed sample.
func (p project) rootDirs() []string {
	if p.roots == nil {
		return p.copies()
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

// finish adds the disk usage, and extrapolates a sample to all roots.
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

// measured is run with requests and bytes.
func (p project) measured(ctx context.Context) (usage, error) {
	p.servers.ResetRequests()
	before := p.servers.BytesSent()
	u, err := p.run(ctx)
	u.received, u.requests = p.servers.BytesSent()-before, p.servers.Requests()
	return u, err
}

// run runs cotter once for all of many roots, and stock tools in a loop.
func (p project) run(ctx context.Context) (sum usage, err error) {
	if p.tool.ours && p.roots != nil {
		return p.execute(ctx, "project", "--recursive")
	}
	if p.phase.projects > 1 {
		return p.runAtOnce(ctx)
	}
	for _, dir := range p.rootDirs() {
		once, err := p.execute(ctx, dir)
		if err != nil {
			return usage{}, err
		}
		sum.elapsed, sum.cpu, sum.peak = sum.elapsed+once.elapsed, sum.cpu+once.cpu, max(sum.peak, once.peak)
	}
	return sum, nil
}

// runAtOnce runs all copies at the same time, and adds up the CPU times.
func (p project) runAtOnce(ctx context.Context) (sum usage, err error) {
	start := time.Now()
	each := make([]usage, p.phase.projects)
	group, ctx := errgroup.WithContext(ctx)
	for i, dir := range p.copies() {
		group.Go(func() (err error) {
			each[i], err = p.execute(ctx, dir)
			return err
		})
	}
	err = group.Wait()
	sum.elapsed = time.Since(start)
	for _, once := range each {
		sum.cpu, sum.peak = sum.cpu+once.cpu, max(sum.peak, once.peak)
	}
	return sum, err
}

var errNotRefused = errors.New("the command has succeeded")

func (p project) execute(ctx context.Context, dir string, args ...string) (u usage, err error) {
	cmd := exec.CommandContext(ctx, p.tool.binary, append(slices.Clone(p.phase.work.of(p.tool)), args...)...)
	cmd.Dir = p.file(dir)
	cmd.Env = append(os.Environ(), p.servers.Env()...)
	cmd.Env = append(cmd.Env, "COTTER_CACHE_DIR="+p.file("cache"), "COTTER_STATE_DIR="+p.file("state"), "TF_CLI_CONFIG_FILE="+p.file("cli.tfrc"), "CHECKPOINT_DISABLE=1", "CI=")
	if p.phase.pluginCache && !p.tool.ours {
		cmd.Env = append(cmd.Env, "TF_PLUGIN_CACHE_DIR="+p.file("plugins"))
	}
	if p.phase.copied {
		cmd.Env = append(cmd.Env, "COTTER_LAYOUT=copy")
	}
	cmd.Env = append(cmd.Env, p.phase.env...)
	if p.phase.mirrored && p.tool.ours {
		cmd.Env = append(cmd.Env, "COTTER_MIRROR=oci://"+strings.TrimPrefix(p.servers.URL(), "https://")+"/mirror/modules")
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	memory := watchMemory(cmd.Process.Pid)
	err = cmd.Wait()
	u.elapsed, u.peak = time.Since(start), memory()
	want := 0
	if p.phase.refused {
		want = 1
	}
	if status := cmd.ProcessState.ExitCode(); status != want {
		return usage{}, fmt.Errorf("%s: %s: %w, status %d instead of %d\n%s", p.phase.name, p.command(), cmp.Or(err, errNotRefused), status, want, &out)
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return u, nil
}
