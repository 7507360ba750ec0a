package installer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/moduletree"
)

func describe(result *installer.Result) []string {
	var lines []string
	for _, m := range result.Modules {
		lines = append(lines, strings.TrimSpace(fmt.Sprint(m.Path, " ", m.Version, " ", m.Dir, " ", len(m.Hashes))))
	}
	return lines
}

// Load returns the modules that Install reported.
func TestLoad(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	installed := p.mustInstall(t, request{})
	p.world.ResetRequests()
	loaded, err := p.installer().Load(context.Background(), installer.Project{Dir: p.dir}, installer.LoadOptions{})
	testenv.Must(t, err)
	if diff := cmp.Diff(describe(installed), describe(loaded)); diff != "" {
		t.Errorf("Load (-installed +loaded):\n%s", diff)
	}
	p.checkRead(t, loaded)
	if requests := p.world.Requests(); len(requests) > 0 {
		t.Errorf("Load asked servers: %v", requests)
	}
}

// checkRead checks that package moduletree reads the modules that Load has loaded.
func (p *project) checkRead(t *testing.T, loaded *installer.Result) {
	t.Helper()
	tree, err := moduletree.Read(t.Context(), moduletree.Project{Dir: p.dir})
	testenv.Must(t, err)
	read := &installer.Result{}
	for _, m := range tree.Modules {
		read.Modules = append(read.Modules, installer.Module{
			Path: m.Path, Call: m.Call, Source: m.Source, Replaces: m.Replaces, Version: m.Version, Package: m.Package, Hashes: m.Hashes, Dir: m.Dir,
		})
	}
	if diff := cmp.Diff(describe(loaded), describe(read)); diff != "" {
		t.Errorf("Read (-loaded +read):\n%s", diff)
	}
	for i, m := range loaded.Modules {
		if m.Evidence = (evidence.Evidence{}); i < len(read.Modules) && !reflect.DeepEqual(m, read.Modules[i]) {
			t.Errorf("Read = %+v, want %+v", read.Modules[i], m)
		}
	}
}

func TestLoadOfWhatIsNotInstalled(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.write(t, "bad.tf", "module \"bad\" {\n  source = \"not an address\"\n}\n")
	_, err := p.installer().Load(context.Background(), installer.Project{Dir: p.dir}, installer.LoadOptions{})
	if !errors.Is(err, installer.ErrNotInstalled) {
		t.Errorf("Load = %v, want ErrNotInstalled", err)
	}
	result, err := p.installer().Load(context.Background(), installer.Project{Dir: p.dir}, installer.LoadOptions{BestEffort: true})
	testenv.Must(t, err)
	if diff := cmp.Diff([]string{"app  app 0"}, describe(result)); diff != "" {
		t.Errorf("Load of the best effort (-want +got):\n%s", diff)
	}
	var got []string
	for _, u := range result.Unresolved {
		got = append(got, fmt.Sprint(u.Path, " ", u.Source != nil, " ", errors.Is(u.Err, installer.ErrNotInstalled)))
	}
	want := []string{"app.network true true", "bad false false", "dns true true", "network true true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unresolved (-want +got):\n%s", diff)
	}
}

// In a fresh checkout, the lock has all packages and the calls of packages in them.
func TestLoadFromLock(t *testing.T) {
	t.Parallel()
	testNames, err := txtar.ParseFile(filepath.Join("testdata", "install", "test_names.txtar"))
	testenv.Must(t, err)
	for name, tt := range map[string]struct {
		p          *project
		inPackages []string
	}{
		"nested": {world(t, nested), []string{"app.network.subnets", "network.subnets"}},
		// Their keys do not say which module calls which.
		"tests": {newProject(t, testNames, modtest.Options{}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.p.checkLoadFromLock(t, tt.inPackages)
		})
	}
}

func (p *project) checkLoadFromLock(t *testing.T, inPackages []string) {
	t.Helper()
	installed := p.mustInstall(t, request{})
	testenv.Must(t, os.RemoveAll(filepath.Join(p.dir, ".terraform")))
	p.world.ResetRequests()
	var want []installer.Module
	for _, m := range installed.Modules {
		if !m.Package.IsZero() {
			m.Dir = ""
		}
		if !strings.HasPrefix(m.Dir, ".terraform") { // a local module of a package
			want = append(want, m)
		}
	}
	loaded, err := p.installer().Load(t.Context(), installer.Project{Dir: p.dir}, installer.LoadOptions{FromLock: true})
	testenv.Must(t, err)
	if diff := cmp.Diff(describe(&installer.Result{Modules: want}), describe(loaded)); diff != "" {
		t.Errorf("Load (-installed +loaded):\n%s", diff)
	}
	p.checkRead(t, loaded)
	for _, m := range loaded.Modules {
		if own := !slices.Contains(inPackages, m.Path.String()); own != (m.Call.Range.Filename != "") {
			t.Errorf("module %s is called at %q", m.Path, m.Call.Range)
		}
	}
	if requests := p.world.Requests(); len(requests) > 0 {
		t.Errorf("Load asked servers: %v", requests)
	}
	testenv.Must(t, os.Remove(filepath.Join(p.dir, ".terraform.lock.hcl")))
	if _, err := p.installer().Load(t.Context(), installer.Project{Dir: p.dir}, installer.LoadOptions{FromLock: true}); !errors.Is(err, installer.ErrNotInstalled) {
		t.Errorf("Load without a lock = %v, want ErrNotInstalled", err)
	}
}

// TestLoadOfManyLockedCalls loads a lock of ten times the calls: it may not take much more than ten times the memory,
// as it did when each module read all entries. Other tests would allocate memory too, so it runs alone.
func TestLoadOfManyLockedCalls(t *testing.T) {
	allocated := func(calls int) float64 {
		var configuration, lock strings.Builder
		for i := range calls {
			fmt.Fprintf(&configuration, "module \"m%d\" {\n  source = \"git::https://example.com/m.git\"\n}\n", i)
			fmt.Fprintf(&lock, "module \"m%d\" {\n  source = \"git::https://example.com/m.git\"\n  hashes = [\n    \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",\n  ]\n}\n", i)
		}
		p := installer.Project{Dir: writeProject(t, map[string]string{"main.tf": configuration.String(), ".terraform.lock.hcl": lock.String()}, "")}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		loaded, err := new(installer.Installer).Load(t.Context(), p, installer.LoadOptions{FromLock: true})
		runtime.ReadMemStats(&after)
		if err != nil || len(loaded.Modules) != calls {
			t.Fatalf("Load: %v", err)
		}
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	few, many := allocated(100), allocated(1000)
	if many > 20*few {
		t.Errorf("1000 calls take %.0f times as much memory as 100", many/few)
	}
}

// If the source of a call has changed, its module counts as not installed: the installed files
// belong to the previous source.
func TestLoadAfterTheSourceChanged(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.mustInstall(t, request{})
	p.write(t, "main.tf", `module "network" {
  source  = "MODTEST_HOST/acme/subnets/aws"
}
`)
	_, err := p.installer().Load(context.Background(), installer.Project{Dir: p.dir}, installer.LoadOptions{})
	var module *installer.ModuleError
	if !errors.Is(err, installer.ErrNotInstalled) || !errors.As(err, &module) || module.Range.Start.Line != 2 {
		t.Errorf("Load = %v, want ErrNotInstalled at line 2", err)
	}
}
