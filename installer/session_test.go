package installer_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/versions"
)

// walk installs a configuration as a program does that walks the tree by itself: it reads the files
// of each module that the session returns, and asks for the modules of its calls.
func walk(ctx context.Context, t *testing.T, in *installer.Installer, p installer.Project, o installer.InstallOptions, commit installer.CommitOptions) (*installer.Result, error) {
	t.Helper()
	s, err := in.Begin(ctx, p, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()
	reader, err := installer.DefaultConfigReader(p)
	if err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var unread hcl.Diagnostics
	var below func(path addrs.Module, dir config.Dir)
	below = func(path addrs.Module, dir config.Dir) {
		dir.Path, dir.Terraform = path, p.Dialect == installer.DialectTerraform
		found, diags := reader.ReadModule(ctx, dir)
		mu.Lock()
		unread = append(unread, diags...)
		mu.Unlock()
		s.Expect(path, found.Calls...)
		for _, c := range found.Calls {
			all.Go(func() {
				m, err := s.Module(ctx, path, c)
				if err == nil {
					below(m.Path, config.Dir{Dir: copyOf(t, m.Files), Display: m.Dir})
				}
			})
		}
	}
	below(nil, config.Dir{Dir: p.Dir, Display: "."})
	all.Wait()
	if unread.HasErrors() {
		return nil, unread
	}
	return s.Commit(ctx, commit)
}

// copyOf copies the files of a module, but none below it, to a directory.
func copyOf(t *testing.T, files fs.FS) string {
	t.Helper()
	dir := t.TempDir()
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		t.Error(err)
	}
	for _, entry := range entries {
		text, err := fs.ReadFile(files, entry.Name())
		if err != nil {
			continue // a directory
		}
		if err := os.WriteFile(filepath.Join(dir, entry.Name()), text, 0o600); err != nil {
			t.Error(err)
		}
	}
	return dir
}

// TestSessionWorlds checks that a program which walks the tree by itself gets what Install writes.
func TestSessionWorlds(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/install/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no worlds: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			testenv.Must(t, err)
			p := newProject(t, archive, modtest.Options{})
			req := p.request(string(archive.Comment))
			_, err = walk(t.Context(), t, p.installer(), req.Project, req.InstallOptions, installer.CommitOptions{Complete: true})
			if diags, ok := errors.AsType[hcl.Diagnostics](err); ok {
				t.Logf("not compared, because the configuration cannot be read: %s", diags)
				return
			}
			if errors.Is(err, installer.ErrSameKey) {
				return // which of both calls is refused depends on which one is asked for first
			}
			compare(t, file, archive, p.outcome(err), p.normalize)
			if err == nil {
				p.mustVerify(t, req)
			}
		})
	}
}

const sessionWorld = `
-- config/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "~> 1.0"
}
module "git" {
  source = "git::https://MODTEST_HOST/git/app.git?ref=v1.0.0"
}
-- registry/acme/net/aws/1.0.0/main.tf --
module "inner" {
  source = "./inner"
}
-- registry/acme/net/aws/1.0.0/inner/main.tf --
-- registry/acme/net/aws/1.1.0/main.tf --
-- registry/acme/net/aws/1.1.0/inner/main.tf --
# inner
-- registry/acme/net/aws/2.0.0/main.tf --
-- git/app.git/v1.0.0/main.tf --
`

func begin(t *testing.T, p *project, o installer.InstallOptions) *installer.Session {
	t.Helper()
	s, err := p.installer().Begin(t.Context(), installer.Project{Dir: p.dir}, o)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// netCall returns a call of the registry's module in sessionWorld.
func netCall(p *project, name, constraint string) config.Call {
	c := config.Call{Name: name, Source: string(p.world.Host()) + "/acme/net/aws"}
	if constraint != "" {
		c.Version = &constraint
	}
	return c
}

func mustModule(t *testing.T, s *installer.Session, caller addrs.Module, c config.Call) installer.Module {
	t.Helper()
	m, err := s.Module(t.Context(), caller, c)
	testenv.Must(t, err)
	return m
}

func TestSessionOptions(t *testing.T) {
	t.Parallel()
	p := world(t, sessionWorld)
	for field, o := range map[string]installer.InstallOptions{
		"Scope":             {Scope: installer.ScopeAll},
		"Unify":             {Unify: true},
		"AllowConfigErrors": {AllowConfigErrors: true},
	} {
		_, err := p.installer().Begin(t.Context(), installer.Project{Dir: p.dir}, o)
		if wrong, ok := errors.AsType[*installer.InvalidOptionsError](err); !ok || wrong.Fields[0] != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestSessionClosed checks that nothing changes without a Commit that succeeds.
func TestSessionClosed(t *testing.T) {
	t.Parallel()
	p := world(t, sessionWorld)
	before := snapshot(t, p.dir)
	s := begin(t, p, installer.InstallOptions{})
	net := mustModule(t, s, nil, netCall(p, "net", "~> 1.0"))
	if net.Version.String() != "1.1.0" || net.Dir != ".terraform/modules/net" {
		t.Errorf("got version %s in %s", net.Version, net.Dir)
	}
	inner := mustModule(t, s, net.Path, config.Call{Name: "inner", Source: "./inner"})
	if text, err := fs.ReadFile(inner.Files, "main.tf"); err != nil || string(text) != "# inner\n" {
		t.Errorf("the files of a local module: %q, %v", text, err)
	}
	testenv.Must(t, s.Close())
	if _, err := fs.ReadFile(inner.Files, "main.tf"); err == nil {
		t.Error("files can be read after Close")
	}
	if _, err := s.Module(t.Context(), nil, netCall(p, "other", "")); err == nil {
		t.Error("Module works after Close")
	}
	if _, err := s.Commit(t.Context(), installer.CommitOptions{}); err == nil {
		t.Error("Commit works after Close")
	}
	if diff := cmp.Diff(before, snapshot(t, p.dir)); diff != "" {
		t.Errorf("the project has changed (-before +after):\n%s", diff)
	}
}

// TestSessionErrors checks the errors of Module, and that Commit returns them and changes nothing.
func TestSessionErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ask  func(*installer.Session, *project) error
		want error
	}{
		"a caller that was not asked for": {func(s *installer.Session, p *project) error {
			_, err := s.Module(t.Context(), addrs.Module{"app"}, config.Call{Name: "x", Source: "./x"})
			if err != nil && strings.HasSuffix(err.Error(), "the session has not found the module that has this call: app") {
				return fs.ErrInvalid
			}
			return err
		}, fs.ErrInvalid},
		"a local module outside of its caller's package": {func(s *installer.Session, p *project) error {
			_, err := s.Module(t.Context(), addrs.Module{"net"}, config.Call{Name: "x", Source: "../x"})
			return err
		}, installer.ErrEscapesPackage},
		"a name that is no directory": {func(s *installer.Session, p *project) error {
			_, err := s.Module(t.Context(), nil, config.Call{Name: "../x", Source: "./x"})
			if _, ok := errors.AsType[*addrs.ParseError](err); ok {
				return fs.ErrInvalid
			}
			return err
		}, fs.ErrInvalid},
		"a version that is not allowed for the same call": {func(s *installer.Session, p *project) error {
			again := netCall(p, "net", "~> 1.0")
			again.Allowed = func(v versions.Version) bool { return v.String() != "1.1.0" }
			if _, err := s.Module(t.Context(), nil, again); err != nil {
				return fs.ErrInvalid
			}
			return nil
		}, fs.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := world(t, sessionWorld)
			before := snapshot(t, p.dir)
			s := begin(t, p, installer.InstallOptions{})
			mustModule(t, s, nil, netCall(p, "net", "~> 1.0"))
			if err := test.ask(s, p); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			result, err := s.Commit(t.Context(), installer.CommitOptions{})
			if len(slices.Collect(installer.ModuleErrors(err))) != 1 || result == nil {
				t.Errorf("Commit = %v, %v; want the error again", result, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(before, snapshot(t, p.dir)); diff != "" {
				t.Errorf("the project has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestSessionPart checks that a session keeps what it was not asked for, unless it is complete.
func TestSessionPart(t *testing.T) {
	t.Parallel()
	p := world(t, sessionWorld)
	mustInstall(t, p.installer(), installer.Project{Dir: p.dir}, installer.InstallOptions{})
	installed := snapshot(t, p.dir)
	commit := func(complete bool) {
		t.Helper()
		s := begin(t, p, installer.InstallOptions{})
		mustModule(t, s, nil, netCall(p, "net", "~> 1.0"))
		if _, err := s.Commit(t.Context(), installer.CommitOptions{Complete: complete}); err != nil {
			t.Fatal(err)
		}
		testenv.Must(t, s.Close())
	}
	commit(false)
	if diff := cmp.Diff(installed, snapshot(t, p.dir)); diff != "" {
		t.Errorf("the project has changed (-before +after):\n%s", diff)
	}
	p.mustVerify(t, request{Project: installer.Project{Dir: p.dir}})
	commit(true)
	lock := p.file(".terraform.lock.hcl")
	if strings.Contains(lock, `module "git"`) || !strings.Contains(lock, `module "net"`) {
		t.Errorf("a complete session keeps what it was not asked for:\n%s", lock)
	}
	if p.file(".terraform/modules/git/main.tf") != "" || strings.Contains(p.file(".terraform/modules/modules.json"), `"git"`) {
		t.Error("a package that is not needed is still there")
	}
}

// TestSessionAllowed checks that a call narrows the versions of its constraint, also the locked one.
func TestSessionAllowed(t *testing.T) {
	t.Parallel()
	p := world(t, sessionWorld)
	for _, test := range []struct {
		allowed, want string
	}{
		{"1.0.0 1.1.0 2.0.0", "1.1.0"},
		{"1.0.0", "1.0.0"},       // the locked version is not allowed
		{"1.0.0 1.1.0", "1.0.0"}, // the lock decides
		{"2.0.0", ""},
		{"1.1.0", "1.1.0"},
	} {
		s := begin(t, p, installer.InstallOptions{})
		c := netCall(p, "net", "~> 1.0")
		c.Allowed = func(v versions.Version) bool { return strings.Contains(test.allowed, v.String()) }
		m, err := s.Module(t.Context(), nil, c)
		if got := m.Version.String(); err == nil && got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q: got %s, %v; want %q", test.allowed, got, err, test.want)
		}
		if _, err := s.Commit(t.Context(), installer.CommitOptions{}); (err != nil) != (test.want == "") {
			t.Errorf("%q: Commit = %v", test.allowed, err)
		}
		_ = s.Close()
	}
	if lock := p.file(".terraform.lock.hcl"); !strings.Contains(lock, `constraints = "~> 1.0"`) {
		t.Errorf("the lock does not have the constraint:\n%s", lock)
	}
}

// TestSessionLocked checks that Module says why the lock would have to change, for its call only.
func TestSessionLocked(t *testing.T) {
	t.Parallel()
	p := world(t, sessionWorld)
	s := begin(t, p, installer.InstallOptions{Locked: true})
	for _, name := range []string{"a", "b"} {
		_, err := s.Module(t.Context(), nil, netCall(p, name, ""))
		locked, ok := errors.AsType[*installer.LockedError](err)
		if !ok || len(locked.Reasons) != 1 || locked.Reasons[0].Path.String() != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := s.Commit(t.Context(), installer.CommitOptions{})
	if locked, ok := errors.AsType[*installer.LockedError](err); !ok || len(locked.Reasons) != 2 {
		t.Errorf("Commit = %v", err)
	}
}

// TestSessionCanceled checks that a canceled Module leaves the session usable, and that what was only
// expected does not matter.
func TestSessionCanceled(t *testing.T) {
	t.Parallel()
	p := world(t, sessionWorld)
	s := begin(t, p, installer.InstallOptions{})
	missing := netCall(p, "missing", "")
	missing.Source = string(p.world.Host()) + "/acme/missing/aws"
	s.Expect(nil, missing, netCall(p, "net", "~> 1.0"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Module(ended, nil, netCall(p, "canceled", "")); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Module with a canceled context = %v", err)
	}
	mustModule(t, s, nil, netCall(p, "canceled", ""))
	mustModule(t, s, nil, netCall(p, "net", "~> 1.0"))
	result, err := s.Commit(t.Context(), installer.CommitOptions{Complete: true})
	if err != nil || len(result.Modules) != 2 {
		t.Errorf("Commit = %+v, %v", result, err)
	}
}

// TestSessionInside checks a local path that points into the package of another call.
func TestSessionInside(t *testing.T) {
	t.Parallel()
	p := world(t, sessionWorld)
	s := begin(t, p, installer.InstallOptions{})
	mustModule(t, s, nil, netCall(p, "net", "~> 1.0"))
	m := mustModule(t, s, nil, config.Call{Name: "inner", Source: "./.terraform/modules/net/inner"})
	if _, err := fs.ReadFile(m.Files, "main.tf"); err != nil || m.Dir != ".terraform/modules/net/inner" {
		t.Errorf("got %s, %v", m.Dir, err)
	}
	// These point to each other, and to themselves.
	for _, c := range []config.Call{
		{Name: "a", Source: "./.terraform/modules/b/x"}, {Name: "b", Source: "./.terraform/modules/a/x"}, {Name: "c", Source: "./.terraform/modules/c/x"},
	} {
		if m, err := s.Module(t.Context(), nil, c); err == nil {
			t.Errorf("%s: got %s", c.Name, m.Dir)
		}
	}
}

// TestSessionOrigins checks that what asks the origins asks about the modules that a session has installed for a
// program with configuration of its own, of which only the lock is known.
func TestSessionOrigins(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*project, *installer.Project){
		"installed": func(*project, *installer.Project) {},
		"a fresh checkout": func(p *project, _ *installer.Project) {
			testenv.Must(t, os.RemoveAll(filepath.Join(p.dir, ".terraform")))
		},
		"the content of a lock": func(p *project, project *installer.Project) {
			project.LockContent = []byte(p.file(".terraform.lock.hcl"))
			testenv.Must(t, os.Remove(filepath.Join(p.dir, ".terraform.lock.hcl")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := world(t, sessionWorld)
			testenv.Must(t, os.Remove(filepath.Join(p.dir, "main.tf")))
			s := begin(t, p, installer.InstallOptions{})
			net := mustModule(t, s, nil, netCall(p, "net", "~> 1.0"))
			mustModule(t, s, net.Path, config.Call{Name: "inner", Source: "./inner"})
			git := config.Call{Name: "git", Source: "git::https://" + string(p.world.Host()) + "/git/app.git?ref=v1.0.0"}
			testenv.Must(t, os.Mkdir(filepath.Join(p.dir, "app"), 0o755))
			app := mustModule(t, s, nil, config.Call{Name: "app", Source: "./app"})
			mustModule(t, s, app.Path, git)
			if _, err := s.Commit(t.Context(), installer.CommitOptions{}); err != nil {
				t.Fatal(err)
			}
			testenv.Must(t, s.Close())
			project := installer.Project{Dir: p.dir}
			prepare(p, &project)

			report, err := p.installer().VerifyRemote(t.Context(), project, installer.OriginOptions{})
			var keys []string
			if err == nil {
				for _, o := range report.Modules {
					keys = append(keys, o.Path.String())
				}
			}
			if diff := cmp.Diff([]string{"app.git", "net"}, keys); diff != "" || err != nil || !report.OK() {
				t.Errorf("VerifyRemote = %+v, %v\n%s", report, err, diff)
			}
			outdated, err := p.installer().Outdated(t.Context(), project, installer.OriginOptions{})
			if err != nil || len(outdated.Modules) != 2 || outdated.Modules[1].Current.String() != "1.1.0" || outdated.Modules[1].Allowed.String() != "1.1.0" || outdated.Modules[1].Latest.String() != "2.0.0" {
				t.Errorf("Outdated = %+v, %v", outdated, err)
			}
			if pin := outdated.Modules[0]; pin.Path.String() != "app.git" || pin.Pin == nil || pin.Pin.Value != "v1.0.0" {
				t.Errorf("Outdated: the pin is %+v", pin)
			}

			testenv.Must(t, p.world.MoveTag("app.git", "v1.0.0", fstest.MapFS{"main.tf": {Data: []byte("# moved")}}))
			report, err = p.installer().VerifyRemote(t.Context(), project, installer.OriginOptions{})
			if err != nil || report.OK() || !report.Complete || !report.Modules[0].Moved() {
				t.Errorf("after a tag has moved, VerifyRemote = %+v, %v", report, err)
			}

			project.LockContent = nil
			if err := os.Remove(filepath.Join(p.dir, ".terraform.lock.hcl")); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			for method, err := range map[string]error{
				"VerifyRemote": func() error {
					_, err := p.installer().VerifyRemote(t.Context(), project, installer.OriginOptions{})
					return err
				}(),
				"Outdated": func() error {
					_, err := p.installer().Outdated(t.Context(), project, installer.OriginOptions{})
					return err
				}(),
				"Verify": func() error {
					_, err := p.installer().Verify(t.Context(), project, installer.VerifyOptions{})
					return err
				}(),
			} {
				if missing, ok := errors.AsType[*installer.MissingLockError](err); !ok || missing.File != ".terraform.lock.hcl" || !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("without a lock, %s = %v, want a *MissingLockError", method, err)
				}
			}
		})
	}
}
