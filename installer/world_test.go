package installer_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/registryclient"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata/install")

// TestInstallWorlds installs the configuration of each world in testdata/install. The README
// there explains the parts of a file.
func TestInstallWorlds(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/install/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no worlds: %v", err)
	}
	for _, file := range testenv.SampleFiles(files, "computed_sources", "escapes_package", "git_monorepo", "oci_range", "registry_nested", "replace_sources", "test_names", "wrong_calls") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			testWorld(t, file)
		})
	}
}

func testWorld(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	testenv.Must(t, err)
	p := newProject(t, archive, modtest.Options{})
	req := p.request(string(archive.Comment))
	_, err = p.installer().Install(context.Background(), req.Project, req.InstallOptions)
	got := p.outcome(err)
	got["want/events"] = p.events()
	if err == nil {
		p.mustVerify(t, req)
	}
	compare(t, file, archive, got, p.normalize)
	if err == nil && got["want/lock"] != "" {
		before := snapshot(t, p.dir)
		p.remove(t, ".terraform")
		req.Locked, req.Update = true, installer.Update{}
		p.mustInstall(t, req)
		if diff := cmp.Diff(before, snapshot(t, p.dir)); diff != "" {
			t.Errorf("in a fresh checkout (-before +now):\n%s", diff)
		}
	}
}

// lockHeader is the beginning of each new lock, which the worlds leave out.
const lockHeader = `# This file is maintained automatically by "cotter install", which keeps the
# module blocks, and by "tofu init" or "terraform init", which keep the
# provider blocks. Manual edits may be lost in future updates.

`

// outcome returns what an installation that ended with err has left, as the parts of a world with that name.
func (p *project) outcome(err error) map[string]string {
	return map[string]string{
		"want/error":    errorText(err),
		"want/lock":     strings.TrimPrefix(p.file(".terraform.lock.hcl"), lockHeader),
		"want/manifest": strings.ReplaceAll(p.file(".terraform/modules/modules.json"), "},{", "},\n{"),
	}
}

// compare compares results with the parts of a world that have the expected text. With -update,
// it rewrites these parts instead.
func compare(t *testing.T, file string, archive *txtar.Archive, got map[string]string, normalize func(string) string) {
	changed := false
	for i, part := range archive.Files {
		text, ok := got[part.Name]
		if !ok {
			continue
		}
		text = normalize(text)
		if *update {
			changed = changed || string(part.Data) != text
			archive.Files[i].Data = []byte(text)
			continue
		}
		if diff := cmp.Diff(strings.TrimSpace(string(part.Data)), strings.TrimSpace(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", part.Name, diff)
		}
	}
	wantsError := slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want/error" })
	if !wantsError && got["want/error"] != "" {
		t.Errorf("Install: %s", got["want/error"])
	}
	if changed {
		testenv.Must(t, os.WriteFile(file, txtar.Format(archive), 0o644))
	}
}

// project is a configuration on disk, with servers for its modules.
type project struct {
	world *modtest.World
	dir   string
	state string // the user's state directory

	mu  sync.Mutex
	log []string
}

func newProject(t *testing.T, archive *txtar.Archive, opts modtest.Options) *project {
	t.Helper()
	fsys, err := txtar.FS(archive)
	testenv.Must(t, err)
	p := &project{world: modtest.NewWith(t, fsys, opts), dir: t.TempDir(), state: t.TempDir()}
	testenv.Must(t, p.world.WriteTree(p.dir, "config"))
	return p
}

func world(t *testing.T, text string) *project {
	t.Helper()
	return newProject(t, txtar.Parse([]byte(text)), modtest.Options{})
}

// installer returns an installer like the command's, which trusts the world's servers.
func (p *project) installer() *installer.Installer {
	return installer.New(installer.Options{
		HTTPClient: p.world.HTTPClient(),
		Registry: &registryclient.Client{
			Services:   &disco.Client{HTTPClient: p.world.HTTPClient()},
			HTTPClient: p.world.HTTPClient(),
			RetryWait:  time.Millisecond,
		},
		Fetcher: &getmodules.Fetcher{
			HTTPClient: p.world.HTTPClient(),
			Backoff:    func(int) time.Duration { return time.Millisecond },
			Git:        getmodules.Git{Env: append(os.Environ(), p.world.Env()...)},
		},
		StateDir: p.state,
		OnEvent:  p.record,
	})
}

// request reads the options of a world's comment: lines "locked", "upgrade",
// "for: terraform", "var: NAME=VALUE".
func (p *project) request(comment string) request {
	req := request{Project: installer.Project{Dir: p.dir}}
	for line := range strings.Lines(comment) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "var: "); ok {
			name, value, _ := strings.Cut(text, "=")
			req.Inputs.Variables = append(req.Inputs.Variables, config.Variable{Name: name, Value: value})
		}
		switch strings.TrimSpace(line) {
		case "locked":
			req.Locked = true
		case "upgrade":
			req.Update.All = true
		case "for: terraform":
			req.Dialect = installer.DialectTerraform
		}
	}
	return req
}

func (p *project) record(ev installer.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := ev.(type) {
	case event.FetchProgress:
		return // their number depends on the network
	case event.FetchDone:
		e.Bytes = 0
		ev = e
	}
	p.log = append(p.log, strings.TrimPrefix(fmt.Sprintf("%T%+v", ev, ev), "event."))
}

// events returns the events so far. They are sorted, because concurrent work sends them in any
// order.
func (p *project) events() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(p.log)), "\n") + "\n"
}

// file returns the content of a file of the project, or "" if it does not exist.
func (p *project) file(name string) string {
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return ""
	}
	return string(text)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// mustInstall installs a project and ends the test if that fails.
func mustInstall(t *testing.T, in *installer.Installer, p installer.Project, o installer.InstallOptions) *installer.Result {
	t.Helper()
	result, err := in.Install(t.Context(), p, o)
	testenv.Must(t, err)
	return result
}

func (p *project) write(t *testing.T, name, text string) {
	t.Helper()
	testenv.WriteFile(t, filepath.Join(p.dir, filepath.FromSlash(name)), strings.ReplaceAll(text, "MODTEST_HOST", string(p.world.Host())))
}

func (p *project) mustVerify(t *testing.T, req request) {
	t.Helper()
	report, err := p.installer().Verify(context.Background(), req.Project, installer.VerifyOptions{})
	if err != nil && p.file(".terraform.lock.hcl") == "" {
		return // there was nothing to lock
	}
	if err != nil || !report.OK() {
		t.Errorf("Verify after Install = %+v, %v; want all verified", report, err)
	}
}

var (
	hashes  = regexp.MustCompile(`"(h1|t1|zh):[^"]*"`)
	lists   = regexp.MustCompile(`\[\s+"(h1|t1|zh):[^\]]*\]`)
	commits = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	digests = regexp.MustCompile(`\bsha256:[0-9a-f]{64}\b`)
)

// normalize replaces the parts of text that depend on the run: the servers' port, and the hashes
// and commits of files that contain it. A list of hashes becomes one line.
func (p *project) normalize(text string) string {
	text = strings.ReplaceAll(text, string(p.world.Host()), "MODTEST_HOST")
	text = strings.ReplaceAll(text, p.dir, "DIR")
	text = hashes.ReplaceAllString(text, `"$1:HASH"`)
	text = lists.ReplaceAllStringFunc(text, func(list string) string {
		return "[" + strings.Join(strings.Fields(strings.Trim(list, "[,\n ]")), " ") + "]"
	})
	text = digests.ReplaceAllString(text, "DIGEST")
	return commits.ReplaceAllString(text, "COMMIT")
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error() + "\n"
}

// snapshot returns the content of every file below a directory, except for what Cotter keeps for itself
// in .cotter directories.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := testenv.Files(t, dir)
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.Contains("/"+name, "/.cotter") })
	return files
}

// request is a run of a test: its project, and what it may do.
type request struct {
	installer.Project
	installer.InstallOptions
}

// load returns the options of Load that return the packages of the run.
func (r request) load() installer.LoadOptions {
	return installer.LoadOptions{Providers: r.Scope != installer.ScopeModules}
}

func projects(dirs ...string) (list []installer.Project) {
	for _, dir := range dirs {
		list = append(list, installer.Project{Dir: dir})
	}
	return list
}

// withWarnings returns an installer that adds the warnings of its runs to a list.
func withWarnings(in *installer.Installer, list *[]event.Warning) *installer.Installer {
	return with(in, func(o *installer.Options) {
		o.OnEvent = func(ev installer.Event) {
			if w, ok := ev.(event.Warning); ok {
				*list = append(*list, w)
			}
		}
	})
}

func with(in *installer.Installer, change func(*installer.Options)) *installer.Installer {
	o := in.Options()
	change(&o)
	return installer.New(o)
}
