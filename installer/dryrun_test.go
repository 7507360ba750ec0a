package installer_test

import (
	"io/fs"
	"maps"
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

// A dry run reports what an installation would do and does not change the project. The installation after it
// has the same result.
func TestDryRun(t *testing.T) {
	t.Parallel()
	const names = "git::https://MODTEST_HOST/git/names.git?ref=COMMIT"
	for name, tt := range map[string]struct {
		change  func(*testing.T, *project) // nil: the project was not installed before the dry run
		options installer.InstallOptions
		changes []string
		version string // of the module net
	}{
		"first installation": {version: "1.2.0", changes: []string{"net  -> 1.2.0", "net.names  -> " + names}},
		"lock only": {
			version: "1.2.0", options: installer.InstallOptions{LockOnly: true}, changes: []string{"net  -> 1.2.0", "net.names  -> " + names},
		},
		"nothing to do": {version: "1.2.0", change: func(*testing.T, *project) {}},
		"locked, without modules": {
			version: "1.2.0", options: installer.InstallOptions{Locked: true},
			change: func(t *testing.T, p *project) { p.remove(t, ".terraform") },
		},
		"update": {
			version: "1.3.0", options: installer.InstallOptions{Update: installer.Update{All: true}},
			change:  func(t *testing.T, p *project) { p.useNewer(t) },
			changes: []string{"net 1.2.0 -> 1.3.0", "net.names " + names + " -> " + names},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := world(t, interfaceWorld)
			if tt.change != nil {
				p.mustInstall(t, request{})
				tt.change(t, p)
			}
			before := listing(t, p.dir, true)
			req := request{Project: installer.Project{Dir: p.dir}, InstallOptions: tt.options}
			req.DryRun = true
			result, err := p.installer().Install(t.Context(), req.Project, req.InstallOptions)
			testenv.Must(t, err)
			if diff := cmp.Diff(before, listing(t, p.dir, true)); diff != "" {
				t.Errorf("the dry run changed the project (-before +after):\n%s", diff)
			}
			var changes []string
			for _, c := range result.LockChanges {
				changes = append(changes, p.normalize(c.Path.String()+" "+released(c.Old)+" -> "+released(c.New)))
			}
			if diff := cmp.Diff(tt.changes, changes); diff != "" {
				t.Errorf("LockChanges (-want +got):\n%s", diff)
			}
			want := []string{"net " + tt.version + " .terraform/modules/net/modules/vpc 2", "net.names  .terraform/modules/net.names 2"}
			if diff := cmp.Diff(want, describe(result)); diff != "" {
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
