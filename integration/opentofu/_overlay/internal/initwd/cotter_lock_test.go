package initwd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opentofu/opentofu/internal/addrs"
	"github.com/opentofu/opentofu/internal/configs"
	"github.com/opentofu/opentofu/internal/configs/configload"
	"github.com/opentofu/opentofu/internal/depsfile"
	"github.com/opentofu/opentofu/internal/getmodules"
	"github.com/opentofu/opentofu/internal/getproviders"
	"github.com/opentofu/opentofu/internal/tfdiags"

	"github.com/cotterpin/cotter/installer"
)

// lockName is the dependency lock of the working directory.
const lockName = ".terraform.lock.hcl"

// repository is a git repository with one module.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := repository{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r repository) git(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// commit commits the module with an output, and sets the tag v1.0.0 to it.
func (r repository) commit(output string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, "main.tf"), []byte("output \""+output+"\" {\n  value = 1\n}\n"), 0o644); err != nil {
		r.t.Fatal(err)
	}
	r.git("add", ".")
	r.git("commit", "-q", "-m", output)
	r.git("tag", "-f", "v1.0.0")
}

// initialize installs the modules of the working directory, as init does.
func initialize(t *testing.T, locking Locking, upgrade bool) (*configs.Config, tfdiags.Diagnostics) {
	t.Helper()
	return initializeIn(t.Context(), t, locking, upgrade)
}

func initializeIn(ctx context.Context, t *testing.T, locking Locking, upgrade bool) (*configs.Config, tfdiags.Diagnostics) {
	t.Helper()
	i := NewModuleInstaller(".terraform/modules", configload.NewLoaderForTests(t), nil, getmodules.NewPackageFetcher(ctx, nil))
	i.Locking = locking
	return i.InstallModules(ctx, ".", "tests", upgrade, false, nil, configs.RootModuleCallForTesting())
}

// callIn writes a configuration that calls the module of a repository into a new working directory.
func callIn(t *testing.T, r repository, ref string) {
	t.Helper()
	t.Chdir(t.TempDir())
	source := "git::file://" + filepath.ToSlash(r.dir) + "?ref=" + ref
	if err := os.WriteFile("main.tf", []byte("module \"net\" {\n  source = \""+source+"\"\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readLock(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(lockName)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCotterLock checks that init writes an entry for each module, and keeps it when it rewrites the
// providers of the lock.
func TestCotterLock(t *testing.T) {
	r := newRepository(t)
	r.commit("first")
	callIn(t, r, "v1.0.0")
	if _, diags := initialize(t, Locking{}, false); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	before := readLock(t)
	locks, diags := depsfile.LoadLocksFromFile(lockName)
	if diags.HasErrors() || !strings.HasPrefix(before, lockHeader) || !strings.Contains(before, "module \"net\" {") {
		t.Fatalf("%v\n%s", diags.Err(), before)
	}
	locks.SetProvider(addrs.NewDefaultProvider("null"), getproviders.MustParseVersion("1.0.0"), nil, nil)
	if diags := depsfile.SaveLocksToFile(t.Context(), locks, lockName); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	entry := before[strings.Index(before, "module "):]
	if after := readLock(t); !strings.Contains(after, entry) || !strings.Contains(after, "provider ") {
		t.Errorf("the entry of the module has changed:\n%s\nit was:\n%s", after, before)
	}
}

// TestCotterLockReadonly checks that init -lockfile=readonly installs what the lock has, and fails if the
// lock would have to change.
func TestCotterLockReadonly(t *testing.T) {
	r := newRepository(t)
	r.commit("first")
	callIn(t, r, "main")
	if _, diags := initialize(t, Locking{Readonly: true}, false); !diags.HasErrors() {
		t.Error("a module without an entry was installed")
	}
	if _, diags := initialize(t, Locking{}, false); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	before := readLock(t)
	r.commit("second")
	if err := os.RemoveAll(".terraform"); err != nil {
		t.Fatal(err)
	}
	config, diags := initialize(t, Locking{Readonly: true}, false)
	if diags.HasErrors() || readLock(t) != before {
		t.Fatalf("%v\n%s", diags.Err(), readLock(t))
	}
	if config.Children["net"].Module.Outputs["first"] == nil {
		t.Error("the module is not that of the lock")
	}
}

// TestCotterLockUpgrade checks that init -upgrade moves the entries, and says what it has changed.
func TestCotterLockUpgrade(t *testing.T) {
	r := newRepository(t)
	r.commit("first")
	callIn(t, r, "main")
	if _, diags := initialize(t, Locking{}, false); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	r.commit("second")
	var changed []installer.LockChange
	config, diags := initialize(t, Locking{Changed: func(all []installer.LockChange) { changed = all }}, true)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	if config.Children["net"].Module.Outputs["second"] == nil || len(changed) != 1 || changed[0].Old.Package == changed[0].New.Package {
		t.Errorf("changed: %v", changed)
	}
}

// TestCotterLockMovedTag checks that a tag that was moved since it was locked is a warning, and that the
// locked commit is installed.
func TestCotterLockMovedTag(t *testing.T) {
	r := newRepository(t)
	r.commit("first")
	callIn(t, r, "v1.0.0")
	if _, diags := initialize(t, Locking{}, false); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	r.commit("second")
	if err := os.RemoveAll(".terraform"); err != nil {
		t.Fatal(err)
	}
	config, diags := initialize(t, Locking{}, false)
	if diags.HasErrors() || config.Children["net"].Module.Outputs["first"] == nil {
		t.Fatal(diags.Err())
	}
	var said []string
	for _, d := range diags {
		said = append(said, d.Description().Detail)
	}
	if text := strings.Join(said, "\n"); !strings.Contains(text, "tag v1.0.0 points to") {
		t.Errorf("no warning says that the tag was moved:\n%s", text)
	}
}
