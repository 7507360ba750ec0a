package installer_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/modtest"
)

// oneOfEach is a configuration with a module and a provider.
const oneOfEach = `
-- registry/acme/net/aws/1.0.0/main.tf --
-- registry/acme/net/aws/1.1.0/main.tf --
-- providers/acme/cloud/1.0.0/PLATFORM/terraform-provider-cloud --
binary
`

const oneOfEachConfig = `
module "net" {
  source  = "HOST/acme/net/aws"
  version = "~> 1.0"
}
terraform {
  required_providers {
    cloud = {
      source = "HOST/acme/cloud"
    }
  }
}
`

// locks returns the labels of the blocks of a lock.
func locks(t *testing.T, w *providerWorld, src []byte) string {
	t.Helper()
	lock, err := lockfile.Parse(src, "lock")
	testenv.Must(t, err)
	var list []string
	for _, m := range lock.Modules() {
		list = append(list, m.Key+" "+m.Version.String())
	}
	for _, p := range lock.Providers() {
		list = append(list, w.plain(p.Address.String())+" "+p.Version.String())
	}
	return strings.Join(list, ", ")
}

const bothLocked = "net 1.1.0, HOST/acme/cloud 1.0.0"

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	testenv.Must(t, err)
	return text
}

func absent(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s exists: %v", name, err)
		}
	}
}

// The lock, the data directory and the modules directory may be anywhere. Nothing is written to the
// root module then.
func TestPlaces(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, oneOfEach, modtest.Options{})
	dir, elsewhere := w.project(t, map[string]string{"main.tf": oneOfEachConfig}), t.TempDir()
	before := snapshot(t, dir)
	req := request{Project: installer.Project{Dir: dir, LockFile: filepath.Join(elsewhere, "the.lock"), DataDir: filepath.Join(elsewhere, "data"), ModulesDir: filepath.Join(elsewhere, "modules")}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
	result, err := w.in.Install(t.Context(), req.Project, req.InstallOptions)
	testenv.Must(t, err)
	if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
		t.Errorf("the root module has changed (-before +after):\n%s", diff)
	}
	if got := locks(t, w, read(t, req.LockFile)); got != bothLocked {
		t.Errorf("the lock has %s, want %s", got, bothLocked)
	}
	if want := filepath.ToSlash(req.ModulesDir) + "/net"; result.Modules[0].Dir != want {
		t.Errorf("the module is in %s, want %s", result.Modules[0].Dir, want)
	}
	read(t, filepath.Join(req.ModulesDir, "net/main.tf"))
	read(t, filepath.Join(req.ModulesDir, "modules.json"))
	absent(t, filepath.Join(req.DataDir, "modules"))
	if report, err := w.in.Verify(t.Context(), req.Project, installer.VerifyOptions{}); err != nil || !report.OK() {
		t.Errorf("Verify = %+v, %v", report, err)
	}
	w.asked()
	req.Locked = true
	if _, err := w.in.Install(t.Context(), req.Project, req.InstallOptions); err != nil {
		t.Error(err)
	}
	if asked := w.asked(); asked != nil {
		t.Errorf("the second run sent requests: %q", asked)
	}
}

// A lock in memory goes in as bytes and comes out as bytes.
func TestLockContent(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, oneOfEach, modtest.Options{})
	dir := w.project(t, map[string]string{"main.tf": oneOfEachConfig})
	req := request{Project: installer.Project{Dir: dir, LockContent: []byte{}}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
	var written []event.LockFileWritten
	req.OnEvent = func(ev installer.Event) {
		if e, ok := ev.(event.LockFileWritten); ok {
			written = append(written, e)
		}
	}
	for _, dry := range []bool{true, false} {
		req.DryRun = dry
		result, err := w.in.Install(t.Context(), req.Project, req.InstallOptions)
		testenv.Must(t, err)
		if got := locks(t, w, result.LockContent); got != bothLocked || result.LockFile != "" || len(result.LockChanges) != 1 {
			t.Errorf("DryRun %t: the lock has %s in the file %q with the changes %+v", dry, got, result.LockFile, result.LockChanges)
		}
		req.LockContent = nil
		if !dry {
			req.LockContent = result.LockContent
		} else {
			req.LockContent = []byte{}
		}
	}
	absent(t, filepath.Join(dir, ".terraform.lock.hcl"))
	if written != nil {
		t.Errorf("files were written: %+v", written)
	}
	req.Locked = true
	result, err := w.in.Install(t.Context(), req.Project, req.InstallOptions)
	if err != nil || !cmp.Equal(result.LockContent, req.LockContent) {
		t.Errorf("Locked: %v, and the lock has changed:\n%s", err, result.LockContent)
	}
	if report, err := w.in.Verify(t.Context(), req.Project, installer.VerifyOptions{}); err != nil || !report.OK() {
		t.Errorf("Verify = %+v, %v", report, err)
	}
	// Empty content is a lock that has no entries, not one that has lost them.
	req.LockContent = []byte{}
	var locked *installer.LockedError
	if _, err := w.in.Install(t.Context(), req.Project, req.InstallOptions); !errors.As(err, &locked) {
		t.Errorf("Locked with an empty lock: %v, want *LockedError", err)
	}
	// An edited lock is refused as in a file.
	req.Locked, req.LockContent = false, []byte(strings.ReplaceAll(string(result.LockContent), "1.1.0", "1.0.0"))
	var failed *installer.ModuleError
	if _, err := w.in.Install(t.Context(), req.Project, req.InstallOptions); !errors.As(err, &failed) {
		t.Errorf("with another version and the same hashes: %v, want *ModuleError", err)
	}
	// Providers alone.
	req.LockContent, req.Scope = []byte{}, installer.ScopeProviders
	if result, err = w.in.Install(t.Context(), req.Project, req.InstallOptions); err != nil {
		t.Fatal(err)
	}
	if got := locks(t, w, result.LockContent); got != "HOST/acme/cloud 1.0.0" {
		t.Errorf("with providers only, the lock has %s", got)
	}
}

// Without a lock, nothing is locked. What is installed stays while it fits.
func TestNoLock(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, oneOfEach, modtest.Options{})
	dir := w.project(t, map[string]string{
		"main.tf":             strings.ReplaceAll(oneOfEachConfig, "~> 1.0", "1.0.0"),
		".terraform.lock.hcl": "this is { not a lock",
	})
	req := request{Project: installer.Project{Dir: dir, NoLock: true}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
	for _, step := range []struct {
		name, constraint, want string
		update                 bool
	}{
		{"first", "1.0.0", "1.0.0", false},
		{"what is installed fits", "~> 1.0", "1.0.0", false},
		{"update", "~> 1.0", "1.1.0", true},
		{"what is installed does not fit", "< 1.1", "1.0.0", false},
	} {
		config := strings.ReplaceAll(strings.ReplaceAll(oneOfEachConfig, "~> 1.0", step.constraint), "HOST", string(w.Host()))
		testenv.Must(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o644))
		req.Update.All = step.update
		result, err := w.in.Install(t.Context(), req.Project, req.InstallOptions)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := result.Modules[0].Version; got.String() != step.want || result.LockChanges != nil || result.ProviderChanges != nil || result.LockContent != nil || result.LockFile != "" {
			t.Errorf("%s: version %s, want %s; result %+v", step.name, got, step.want, result)
		}
		if len(result.Providers) != 1 {
			t.Errorf("%s: the providers are %+v", step.name, result.Providers)
		}
	}
	if got := fileIn(t, dir, ".terraform.lock.hcl"); got != "this is { not a lock" {
		t.Errorf("the lock file has changed: %s", got)
	}
	absent(t, filepath.Join(dir, ".terraform/modules/.cotter/lock.hcl"))
}
