package installer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestChangedRoots(t *testing.T) {
	t.Parallel()
	p := world(t, `
-- config/main.tf --
module "lib" {
  source = "./lib"
}
-- config/lib/main.tf --
-- config/envs/dev/main.tf --
module "app" {
  source = "../../app"
}
-- config/envs/dev/nested/main.tf --
module "net" {
  source = "MODTEST_HOST/acme/net/aws"
}
-- config/app/main.tf --
module "lib" {
  source = "../lib"
}
-- config/broken/main.tf --
module "net" {
-- config/vars/main.tf --
variable "dir" {
  type = string
}
module "net" {
  source = var.dir
}
`)
	p.write(t, "shared/net/main.tf", "")
	p.write(t, "envs/dev/nested/shared.tf", fmt.Sprintf("module \"shared\" {\n  source = %q\n}\n", filepath.ToSlash(p.dir)+"/shared//net"))
	roots := []string{".", "envs/dev", "envs/dev/nested"}
	unknown := []string{"broken", "vars"}
	for _, tt := range []struct {
		changed []string
		lock    string
		want    []string
	}{
		{[]string{"main.tf"}, "", []string{"."}},
		{[]string{"lib/main.tf"}, "", []string{".", "envs/dev"}},
		{[]string{"shared/net/a.txt"}, "", []string{"envs/dev/nested"}},
		{[]string{"envs/dev/.terraform.lock.hcl"}, "", []string{"envs/dev"}},
		{[]string{"locks/own.hcl"}, "../../locks/own.hcl", []string{".", "envs/dev"}},
		{[]string{"envs/cotter.hcl"}, "", []string{".", "envs/dev", "envs/dev/nested"}},
		{[]string{"cotter.hcl"}, "", roots},
	} {
		var dirs, files, want []string
		for _, dir := range append(append([]string{}, roots...), unknown...) {
			dirs = append(dirs, filepath.Join(p.dir, dir))
		}
		for _, file := range tt.changed {
			files = append(files, filepath.Join(p.dir, file))
		}
		for _, dir := range append(tt.want, unknown...) {
			want = append(want, filepath.Join(p.dir, dir))
		}
		got, err := repository.ChangedRoots(t.Context(), p.installer(), dirs, files, installer.Project{LockFile: tt.lock})
		testenv.Must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ChangedRoots of %q, lock %q (-want +got):\n%s", tt.changed, tt.lock, diff)
		}
	}
}

// ChangedRoots recognizes a directory that is given as a link, although git reports the path of
// its target.
func TestChangedRootsLink(t *testing.T) {
	t.Parallel()
	p := world(t, "-- config/real/main.tf --\nmodule \"a\" {\n  source = \"../lib\"\n}\n-- config/lib/main.tf --\n")
	link := filepath.Join(p.dir, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Skip(err)
	}
	got, err := repository.ChangedRoots(t.Context(), p.installer(), []string{link}, []string{filepath.Join(p.dir, "real", "x.tf")}, installer.Project{})
	if err != nil || len(got) != 1 {
		t.Errorf("ChangedRoots = %q, %v; want the link", got, err)
	}
}

// Concurrent runs that share an installer send each request once.
func TestShare(t *testing.T) {
	t.Parallel()
	p, dirs := manyProjects(t, 5)
	_, err := p.installer().InstallAll(t.Context(), projects(dirs...), installer.InstallOptions{Scope: installer.ScopeAll})
	testenv.Must(t, err)
	asked := func(dirs []string) int {
		p.world.ResetRequests()
		in, done, err := installerinternal.Share(p.installer())
		testenv.Must(t, err)
		defer done()
		for _, dir := range dirs {
			req := request{Project: installer.Project{Dir: dir}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
			if list, err := in.Outdated(t.Context(), req.Project, installer.OriginOptions{Scope: req.Scope}); err != nil || len(list.Modules) != 3 {
				t.Errorf("Outdated(%s) = %v, %v", dir, list, err)
			}
			if list, err := in.VerifyRemote(t.Context(), req.Project, installer.OriginOptions{}); err != nil || len(list.Modules) != 3 {
				t.Errorf("VerifyRemote(%s) = %v, %v", dir, list, err)
			}
		}
		return len(p.world.Requests())
	}
	if one, all := asked(dirs[:1]), asked(dirs); one != all {
		t.Errorf("5 projects took %d requests, one takes %d", all, one)
	}
}
