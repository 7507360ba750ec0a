package installer_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
)

// shared is a package whose modules use files outside of their own directories.
const shared = `
-- config/main.tf --
module "a" {
  source = "git::https://MODTEST_HOST/git/mono.git//modules/a?ref=v1.0.0"
}

module "b" {
  source = "git::https://MODTEST_HOST/git/mono.git//modules/b?ref=v1.0.0"
}

output "a" {
  value = module.a
}

output "b" {
  value = module.b
}
-- git/mono.git/v1.0.0/modules/a/main.tf --
module "sibling" {
  source = "../sibling"
}

output "file" {
  value = file("${path.module}/../../shared/x.txt")
}

output "own" {
  value = file("${path.module}/files/own.txt")
}

output "fileset" {
  value = fileset("${path.module}/../../shared", "**")
}

output "path" {
  value = path.module
}

output "sibling" {
  value = module.sibling
}
-- git/mono.git/v1.0.0/modules/a/files/own.txt --
own
-- git/mono.git/v1.0.0/modules/b/main.tf --
output "file" {
  value = file("${path.module}/../README.md")
}
-- git/mono.git/v1.0.0/modules/sibling/main.tf --
output "path" {
  value = path.module
}
-- git/mono.git/v1.0.0/modules/README.md --
The modules.
-- git/mono.git/v1.0.0/shared/x.txt --
x
-- git/mono.git/v1.0.0/shared/deep/y.txt --
y
`

func isLink(t *testing.T, name string) bool {
	t.Helper()
	info, err := os.Lstat(name)
	testenv.Must(t, err)
	return info.Mode().Type() == os.ModeSymlink
}

// Modules are real directories with real files. The other directories of the package are links
// to one shared copy of it.
func TestLinkedLayout(t *testing.T) {
	t.Parallel()
	p := world(t, shared)
	p.mustInstall(t, request{})
	modules := filepath.Join(p.dir, ".terraform/modules")
	for name, want := range map[string]bool{
		"a":                         false,
		"a/modules":                 false,
		"a/modules/a":               false,
		"a/modules/a/main.tf":       false,
		"a/modules/a/files":         false,
		"a/modules/a/files/own.txt": false,
		"a/modules/sibling/main.tf": false,
		"a/modules/b":               true,
		"a/modules/README.md":       true,
		"a/shared":                  true,
		"b/modules/a":               true,
		"b/modules/b/main.tf":       false,
	} {
		if got := isLink(t, filepath.Join(modules, filepath.FromSlash(name))); got != want {
			t.Errorf("%s is a link: %v, want %v", name, got, want)
		}
	}
	trees, err := filepath.Glob(filepath.Join(modules, ".cotter/tree/*"))
	if err != nil || len(trees) != 1 {
		t.Errorf("whole packages: %v, %v; want one", trees, err)
	}
	target, err := os.Readlink(filepath.Join(modules, "a/modules/b"))
	if err != nil || !strings.HasPrefix(target, "../../.cotter/tree/") || len(target) > 59 {
		t.Errorf("a/modules/b points to %q, %v", target, err)
	}
}

// With links followed, both layouts give the same tree, and they have the same lock.
func TestLayoutsAgree(t *testing.T) {
	t.Parallel()
	p := world(t, shared)
	p.mustInstall(t, request{})
	linked, lock := followed(t, p), p.file(".terraform.lock.hcl")
	p.remove(t, ".terraform")
	p.mustInstall(t, request{Project: installer.Project{Layout: installer.LayoutCopy}})
	if diff := cmp.Diff(linked, followed(t, p)); diff != "" {
		t.Errorf("installed files (-links +copies):\n%s", diff)
	}
	if diff := cmp.Diff(lock, p.file(".terraform.lock.hcl")); diff != "" {
		t.Errorf("lock (-links +copies):\n%s", diff)
	}
	if isLink(t, filepath.Join(p.dir, ".terraform/modules/a/shared")) {
		t.Error("LayoutCopy made a link")
	}
	p.remove(t, ".terraform/modules/a")
	p.mustInstall(t, request{InstallOptions: installer.InstallOptions{Locked: true}})
	if diff := cmp.Diff(linked, followed(t, p)); diff != "" {
		t.Errorf("one call linked, one copied (-links +mixed):\n%s", diff)
	}
}

// followed returns every file of the installed modules, with links followed.
func followed(t *testing.T, p *project) map[string]string {
	t.Helper()
	files := make(map[string]string)
	followFiles(t, files, "", filepath.Join(p.dir, ".terraform/modules"))
	return files
}

// A change in the shared part of a package is reported for every call that uses it.
func TestDamagedSharedPart(t *testing.T) {
	t.Parallel()
	p := world(t, shared)
	p.mustInstall(t, request{})
	before := followed(t, p)
	p.write(t, ".terraform/modules/a/shared/x.txt", "changed through the link\n")
	report, err := p.installer().Verify(context.Background(), installer.Project{Dir: p.dir}, installer.VerifyOptions{})
	testenv.Must(t, err)
	for _, r := range report.Packages {
		if r.Status != installer.StatusChanged || !slices.Equal(r.Changes.Changed, []string{"shared/x.txt"}) {
			t.Errorf("%s is %s with changes %+v, want shared/x.txt changed", r.Path, r.Status, r.Changes)
		}
	}
	p.mustInstall(t, request{})
	if diff := cmp.Diff(before, followed(t, p)); diff != "" {
		t.Errorf("Install did not put it right (-want +got):\n%s", diff)
	}
	p.mustVerify(t, request{Project: installer.Project{Dir: p.dir}})
}

// Verify reports a file that was replaced by a link, regardless of the link's target.
func TestForeignLink(t *testing.T) {
	t.Parallel()
	p := world(t, shared)
	p.mustInstall(t, request{})
	name := filepath.Join(p.dir, ".terraform/modules/a/modules/a/main.tf")
	for _, target := range []string{"/etc/passwd", "../sibling/main.tf", "../../../.cotter/tree/x/modules/a/main.tf"} {
		testenv.Must(t, os.Remove(name))
		testenv.Must(t, os.Symlink(target, name))
		if report, err := p.installer().Verify(context.Background(), installer.Project{Dir: p.dir}, installer.VerifyOptions{}); err != nil || report.OK() {
			t.Errorf("with main.tf a link to %s: Verify = %+v, %v; want not OK", target, report, err)
		}
	}
}

func TestMovedProject(t *testing.T) {
	t.Parallel()
	p := world(t, shared)
	p.mustInstall(t, request{})
	archive := filepath.Join(t.TempDir(), "project.tar")
	elsewhere := t.TempDir()
	for _, args := range [][]string{{"-C", p.dir, "-cf", archive, "."}, {"-C", elsewhere, "-xf", archive}} {
		if out, err := exec.Command("tar", args...).CombinedOutput(); err != nil {
			t.Fatalf("tar %v: %v\n%s", args, err, out)
		}
	}
	p.remove(t, ".")
	report, err := p.installer().Verify(context.Background(), installer.Project{Dir: elsewhere}, installer.VerifyOptions{})
	if err != nil || !report.OK() {
		t.Errorf("Verify after a tar round trip = %+v, %v; want OK", report, err)
	}
}

// The stock tool computes the same outputs from both layouts as from its own installation.
func TestStockOutputs(t *testing.T) {
	t.Parallel()
	binary := testenv.Program(t, "terraform")
	p := world(t, shared)
	outputs := func() string {
		t.Helper()
		p.remove(t, "terraform.tfstate")
		p.stock(t, binary, "init", "-backend=false")
		p.stock(t, binary, "apply", "-auto-approve")
		return p.file("terraform.tfstate")
	}
	values := func(state string) string {
		_, state, _ = strings.Cut(state, `"outputs"`)
		return state
	}
	p.stock(t, binary, "get")
	want := values(outputs())
	for _, layout := range []installer.Layout{installer.LayoutLinks, installer.LayoutCopy} {
		p.remove(t, ".terraform")
		p.mustInstall(t, request{Project: installer.Project{Dialect: installer.DialectTerraform, Layout: layout}})
		p.world.ResetRequests()
		if diff := cmp.Diff(want, values(outputs())); diff != "" {
			t.Errorf("outputs with layout %d (-stock +ours):\n%s", layout, diff)
		}
		if requests := p.world.Requests(); len(requests) > 0 {
			t.Errorf("terraform made requests: %v", requests)
		}
	}
	// An upgrade by the stock tool replaces our installation. The next run restores it.
	p.stock(t, binary, "get", "-update")
	p.mustInstall(t, request{Project: installer.Project{Dialect: installer.DialectTerraform}})
	p.mustVerify(t, request{Project: installer.Project{Dir: p.dir}})
}
