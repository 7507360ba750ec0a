package installer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
)

const replaceWorld = `
-- config/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "~> 1.0"
}
module "infra" {
  source = "git::https://MODTEST_HOST/git/infra.git?ref=v1.0.0"
}
-- config/fork/main.tf --
-- registry/acme/net/aws/1.0.0/main.tf --
module "sub" {
  source = "MODTEST_HOST/acme/sub/aws"
}
-- registry/acme/net/aws/1.1.0/main.tf --
module "sub" {
  source = "MODTEST_HOST/acme/sub/aws"
}
-- registry/acme/net/aws/1.1.0/cotter.hcl --
replace "MODTEST_HOST/acme/sub/aws" {
  source = "./evil"
}
replace "MODTEST_HOST/git/infra" {
  source = "./evil"
}
-- registry/acme/sub/aws/0.1.0/main.tf --
-- registry/acme/sub/aws/0.2.0/main.tf --
-- git/infra.git/v1.0.0/main.tf --
`

// sources returns what a run has installed: "KEY SOURCE VERSION".
func sources(p *project, result *installer.Result) []string {
	var list []string
	for _, m := range result.Modules {
		list = append(list, strings.TrimSpace(p.normalize(m.Path.String()+" "+m.Source.String()+" "+m.Version.String())))
	}
	return list
}

// A replacement comes and goes in runs without a lock too, which believe what is installed. Neither
// the replacement nor the version in modules.json is taken for what the configuration has.
func TestReplaceWithoutLock(t *testing.T) {
	t.Parallel()
	p := world(t, replaceWorld)
	in := with(p.installer(), func(o *installer.Options) { o.TrustInstalled = true })
	req := request{Project: installer.Project{Dir: p.dir, NoLock: true, OnEvent: p.record}}
	original := []string{
		"infra git::https://MODTEST_HOST/git/infra.git?ref=v1.0.0", "net MODTEST_HOST/acme/net/aws 1.1.0", "net.sub MODTEST_HOST/acme/sub/aws 0.2.0",
	}
	replaced := []string{"infra ./fork", "net MODTEST_HOST/acme/sub/aws 0.1.0"}
	for _, step := range []struct {
		replace string
		want    []string
	}{
		{"", original},
		{`replace "MODTEST_HOST/git/infra" { source = "./fork" }
replace "MODTEST_HOST/acme/net/aws" {
  source = "MODTEST_HOST/acme/sub/aws"
  version = "0.1.0"
}
`, replaced},
		{"", original},
	} {
		p.write(t, "cotter.hcl", step.replace)
		for range 2 {
			result, err := in.Install(context.Background(), req.Project, req.InstallOptions)
			testenv.Must(t, err)
			if diff := cmp.Diff(step.want, sources(p, result)); diff != "" {
				t.Errorf("replace %q (-want +got):\n%s", step.replace, diff)
			}
		}
	}
}

// Only the project's own file counts, and what replaces the source of a package's call is the
// project's: its policies and faults are named with the call.
func TestReplaceInPackage(t *testing.T) {
	t.Parallel()
	p := world(t, replaceWorld)
	result := p.mustInstall(t, p.request(""))
	want := []string{
		"infra git::https://MODTEST_HOST/git/infra.git?ref=v1.0.0", "net MODTEST_HOST/acme/net/aws 1.1.0", "net.sub MODTEST_HOST/acme/sub/aws 0.2.0",
	}
	if diff := cmp.Diff(want, sources(p, result)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.write(t, "cotter.hcl", `
replace "MODTEST_HOST/acme/sub/aws" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "9.0.0"
}
`)
	err := p.mustFail(t, p.request(""))
	var failed *installer.ModuleError
	if !errors.As(err, &failed) || failed.Path.String() != "net.sub" || !strings.Contains(p.normalize(failed.Source), "acme/net/aws in place of MODTEST_HOST/acme/sub/aws") {
		t.Errorf("Install: %v", err)
	}
	p.write(t, "cotter.hcl", `replace "MODTEST_HOST/acme/sub/aws" { source = "./none" }`)
	if err := p.mustFail(t, p.request("")); !strings.Contains(err.Error(), `"./none" does not exist`) {
		t.Errorf("Install: %v", err)
	}
}

// modules.json has the source and a version of the configuration for a replaced module, which is not another
// source than that of its lock entry.
func TestReplacedFilesThatDiffer(t *testing.T) {
	t.Parallel()
	p := world(t, replaceWorld)
	p.write(t, "cotter.hcl", `replace "MODTEST_HOST/git/infra" { source = "MODTEST_HOST/acme/sub/aws" }`)
	p.mustInstall(t, request{})
	p.write(t, ".terraform/modules/infra/main.tf", "# edited")
	p.mustInstall(t, request{})
	if want := `its installed files do not match the lock; they are replaced: changed: "main.tf"`; !strings.Contains(p.events(), want) {
		t.Errorf("no warning says %q:\n%s", want, p.events())
	}
}

// Calls share a version with --unify by what replaces their sources.
func TestReplaceUnify(t *testing.T) {
	t.Parallel()
	p := world(t, replaceWorld)
	p.write(t, "main.tf", `
module "a" {
  source  = "MODTEST_HOST/acme/sub/aws"
  version = "0.1.0"
}
module "b" {
  source = "git::https://MODTEST_HOST/git/infra.git"
}
`)
	p.write(t, "cotter.hcl", `replace "MODTEST_HOST/git/infra" { source = "MODTEST_HOST/acme/sub/aws" }`)
	req := p.request("")
	req.Unify = true
	want := []string{"a MODTEST_HOST/acme/sub/aws 0.1.0", "b MODTEST_HOST/acme/sub/aws 0.1.0"}
	if diff := cmp.Diff(want, sources(p, p.mustInstall(t, req))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Restore reads the configuration as other runs do, with what replaces sources in it.
func TestRestoreReplaced(t *testing.T) {
	t.Parallel()
	p := world(t, replaceWorld)
	p.write(t, "cotter.hcl", `replace "MODTEST_HOST/git/infra" { source = "MODTEST_HOST/acme/sub/aws" }`)
	p.mustInstall(t, request{})
	want := blocks(p.file(".terraform.lock.hcl"))
	p.write(t, ".terraform.lock.hcl", asStock)
	restored, err := installerinternal.Restore(t.Context(), p.installer(), installer.Project{Dir: p.dir}, nil)
	if err != nil || len(restored.Modules) == 0 {
		t.Fatalf("Restore = %+v, %v", restored, err)
	}
	if diff := cmp.Diff(want, blocks(p.file(".terraform.lock.hcl"))); diff != "" {
		t.Errorf("module blocks (-before +after):\n%s", diff)
	}
}
