package installer_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

// useNewer changes the configuration so that it calls the newer version.
func (p *project) useNewer(t *testing.T) {
	t.Helper()
	p.write(t, "main.tf", strings.Replace(p.file("main.tf"), "1.2.0", ">= 1.2.0", 1))
}

// listing returns the type and the content or target of everything below a directory. Without own, that is
// not what Cotter keeps for itself in .cotter directories.
func listing(t *testing.T, dir string, own bool) map[string]string {
	t.Helper()
	all := testenv.Files(t, dir)
	testenv.Must(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			all[strings.TrimPrefix(name, dir+"/")] = "a directory"
		}
		return err
	}))
	maps.DeleteFunc(all, func(name, _ string) bool { return !own && slices.Contains(strings.Split(name, "/"), ".cotter") })
	return all
}

// lockChanges returns the changes in a result, each as "KEY OLD -> NEW".
func lockChanges(result *installer.Result) []string {
	var changes []string
	for _, c := range result.LockChanges {
		changes = append(changes, c.Path.String()+" "+released(c.Old)+" -> "+released(c.New))
	}
	return changes
}

// versionsOf returns the modules in a result, each as "KEY VERSION DIR".
func versionsOf(modules []installer.Module) []string {
	var list []string
	for _, m := range modules {
		list = append(list, strings.Join([]string{m.Path.String(), m.Version.String(), m.Dir}, " "))
	}
	return list
}

// A dry run reports what an installation would do and does not change the project. The installation after it
// has the same result.
func TestDryRun(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		installed bool // before the dry run
		change    func(*testing.T, *project)
		req       request
		changes   []string
		modules   []string
	}{
		"first installation": {
			changes: []string{"net  -> 1.2.0", "net.names  -> git::https://MODTEST_HOST/git/names.git?ref=COMMIT"},
			modules: []string{"net 1.2.0 .terraform/modules/net/modules/vpc", "net.names  .terraform/modules/net.names"},
		},
		"lock only as well": {
			req:     request{InstallOptions: installer.InstallOptions{LockOnly: true}},
			changes: []string{"net  -> 1.2.0", "net.names  -> git::https://MODTEST_HOST/git/names.git?ref=COMMIT"},
			modules: []string{"net 1.2.0 .terraform/modules/net/modules/vpc", "net.names  .terraform/modules/net.names"},
		},
		"nothing to do": {
			installed: true,
			modules:   []string{"net 1.2.0 .terraform/modules/net/modules/vpc", "net.names  .terraform/modules/net.names"},
		},
		"locked": {
			installed: true,
			req:       request{InstallOptions: installer.InstallOptions{Locked: true}},
			modules:   []string{"net 1.2.0 .terraform/modules/net/modules/vpc", "net.names  .terraform/modules/net.names"},
		},
		"locked, without modules": {
			installed: true,
			change: func(t *testing.T, p *project) {
				testenv.Must(t, os.RemoveAll(filepath.Join(p.dir, ".terraform")))
			},
			req:     request{InstallOptions: installer.InstallOptions{Locked: true}},
			modules: []string{"net 1.2.0 .terraform/modules/net/modules/vpc", "net.names  .terraform/modules/net.names"},
		},
		"update": {
			installed: true,
			change:    func(t *testing.T, p *project) { p.useNewer(t) },
			req:       request{InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}},
			changes:   []string{"net 1.2.0 -> 1.3.0", "net.names git::https://MODTEST_HOST/git/names.git?ref=COMMIT -> git::https://MODTEST_HOST/git/names.git?ref=COMMIT"},
			modules:   []string{"net 1.3.0 .terraform/modules/net/modules/vpc", "net.names  .terraform/modules/net.names"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := world(t, interfaceWorld)
			if tt.installed {
				mustInstall(t, p.installer(), installer.Project{Dir: p.dir}, installer.InstallOptions{})
			}
			if tt.change != nil {
				tt.change(t, p)
			}
			before := listing(t, p.dir, true)
			req := tt.req
			req.Dir, req.DryRun = p.dir, true
			result, err := p.installer().Install(t.Context(), req.Project, req.InstallOptions)
			testenv.Must(t, err)
			if diff := cmp.Diff(before, listing(t, p.dir, true)); diff != "" {
				t.Errorf("the dry run changed the project (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(strings.Join(tt.changes, "\n"), p.normalize(strings.Join(lockChanges(result), "\n"))); diff != "" {
				t.Errorf("LockChanges (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.modules, versionsOf(result.Modules)); diff != "" {
				t.Errorf("Modules (-want +got):\n%s", diff)
			}
			if result.Root.Dir != "." || !result.Root.Path.IsRoot() {
				t.Errorf("Root = %+v, want the root module", result.Root)
			}
			req.DryRun = false
			if diff := cmp.Diff(result, p.mustInstall(t, req), cmpopts.EquateComparable(versions.Version{})); diff != "" {
				t.Errorf("results (-planned +made):\n%s", diff)
			}
		})
	}
}

// A run with LockOnly writes no lock if there is nothing to lock.
func TestLockOnlyNothing(t *testing.T) {
	t.Parallel()
	p := world(t, "-- config/main.tf --\nmodule \"local\" {\n  source = \"./local\"\n}\n-- config/local/main.tf --\n")
	before := listing(t, p.dir, true)
	for range 2 {
		mustInstall(t, p.installer(), installer.Project{Dir: p.dir}, installer.InstallOptions{LockOnly: true})
	}
	if diff := cmp.Diff(before, listing(t, p.dir, true)); diff != "" {
		t.Errorf("the run changed the project (-before +after):\n%s", diff)
	}
}
