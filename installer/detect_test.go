package installer_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/registryclient"
)

const (
	tofuLock      = "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n"
	terraformLock = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n"

	tofuProvider      = "\nprovider \"registry.opentofu.org/hashicorp/null\" {\n  version = \"3.2.1\"\n}\n"
	terraformProvider = "\nprovider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.1\"\n}\n"

	tofuManifest      = `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"x","Source":"registry.opentofu.org/a/b/c","Version":"1.0.0","Dir":"x"}]}`
	terraformManifest = `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"x","Source":"registry.terraform.io/a/b/c","Version":"1.0.0","Dir":"x"}]}`
)

var (
	onlyTofu      = []installer.Dialect{installer.DialectOpenTofu}
	onlyTerraform = []installer.Dialect{installer.DialectTerraform}
	bothTools     = []installer.Dialect{installer.DialectOpenTofu, installer.DialectTerraform}
)

// detectCase is a project whose root module, in infra/prod of a git repository,
// calls acme/network/aws.
type detectCase struct {
	name     string // "KIND: ...", as in [testenv.Kind]
	files    map[string]string
	tools    []installer.Dialect
	asked    installer.Dialect // the dialect of the request
	next     installer.Dialect // the tool that runs next
	lockFile string
	want     installer.Dialect
	warns    string // a part of the warning; "" if none is expected
}

var detectCases = []detectCase{
	{name: "nothing: no tool", want: installer.DialectOpenTofu, warns: "nothing in the project shows whether it is for tofu or for terraform; tofu was assumed"},
	{name: "nothing: both tools", tools: bothTools, want: installer.DialectOpenTofu, warns: "nothing in the project shows"},
	{name: "tools: only terraform", tools: onlyTerraform, want: installer.DialectTerraform},
	{name: "only tofu is there", tools: onlyTofu, want: installer.DialectOpenTofu},
	{name: "tools: asked for", asked: installer.DialectTerraform, want: installer.DialectTerraform},

	{name: "providers: of terraform", files: map[string]string{".terraform.lock.hcl": terraformProvider}, want: installer.DialectTerraform},
	{name: "providers: of terraform and only terraform", files: map[string]string{".terraform.lock.hcl": terraformProvider}, tools: onlyTerraform, want: installer.DialectTerraform},
	{name: "providers: of terraform and both tools", files: map[string]string{".terraform.lock.hcl": terraformProvider}, tools: bothTools, want: installer.DialectTerraform},
	{
		name:  "providers: of terraform and only tofu",
		files: map[string]string{".terraform.lock.hcl": terraformProvider}, tools: onlyTofu,
		want: installer.DialectTerraform, warns: "the hosts of the lock's providers (terraform), but the only installed tool (tofu)",
	},
	{
		name:  "providers: of tofu and only terraform",
		files: map[string]string{".terraform.lock.hcl": tofuProvider}, tools: onlyTerraform,
		want: installer.DialectOpenTofu, warns: "the hosts of the lock's providers (tofu), but the only installed tool (terraform)",
	},
	{
		name:  "providers: of terraform before a run of tofu",
		files: map[string]string{".terraform.lock.hcl": terraformProvider}, tools: onlyTerraform, next: installer.DialectOpenTofu,
		want: installer.DialectTerraform, warns: "the hosts of the lock's providers (terraform), but the tool that runs next (tofu)",
	},
	{
		name:  "providers: of terraform before a run of terraform",
		files: map[string]string{".terraform.lock.hcl": terraformProvider}, tools: onlyTofu, next: installer.DialectTerraform,
		want: installer.DialectTerraform,
	},
	{
		name:  "version file: before a run of tofu",
		files: map[string]string{".terraform-version": "1.5.7"}, next: installer.DialectOpenTofu,
		want: installer.DialectTerraform, warns: ".terraform-version (terraform), but the tool that runs next (tofu)",
	},
	{name: "providers: of both", files: map[string]string{".terraform.lock.hcl": terraformProvider + tofuProvider}, want: installer.DialectOpenTofu},
	{name: "providers: in the other lock", files: map[string]string{".terraform.lock.hcl": terraformProvider}, lockFile: ".cotter.lock.hcl", want: installer.DialectTerraform},
	{name: "comment: in the other lock", files: map[string]string{".terraform.lock.hcl": terraformLock}, lockFile: ".cotter.lock.hcl", want: installer.DialectTerraform},

	{name: "files: tofu", files: map[string]string{"extra.tofu": ""}, tools: onlyTerraform, want: installer.DialectOpenTofu},
	{name: "files: tofu in JSON", files: map[string]string{"extra.tofu.json": "{}"}, want: installer.DialectOpenTofu},
	{name: "manifest: of terraform", files: map[string]string{".terraform/modules/modules.json": terraformManifest}, want: installer.DialectTerraform},
	{
		name: "manifest: a module whose host is written",
		files: map[string]string{
			"x.tf":                            "module \"x\" {\n  source = \"registry.terraform.io/acme/network/aws\"\n}\n",
			".terraform/modules/modules.json": terraformManifest,
		},
		want: installer.DialectOpenTofu, warns: "nothing in the project shows",
	},
	{name: "comment: of terraform", files: map[string]string{".terraform.lock.hcl": terraformLock}, want: installer.DialectTerraform},
	{name: "comment: of tofu", files: map[string]string{".terraform.lock.hcl": tofuLock}, want: installer.DialectOpenTofu},
	{name: "comment: not at the beginning", files: map[string]string{".terraform.lock.hcl": "provider \"example.com/a/b\" {\n  version = \"1.0.0\"\n}\n" + terraformLock}, want: installer.DialectOpenTofu, warns: "nothing in the project shows"},

	{name: "version file: .terraform-version", files: map[string]string{".terraform-version": "1.5.7\n"}, want: installer.DialectTerraform},
	{name: "version file: .opentofu-version", files: map[string]string{".opentofu-version": "1.9.0\n"}, tools: onlyTerraform, want: installer.DialectOpenTofu},
	{name: "version file: empty", files: map[string]string{".terraform-version": "\n"}, want: installer.DialectOpenTofu, warns: "nothing in the project shows"},
	{name: "version file: .tool-versions", files: map[string]string{".tool-versions": "nodejs 20.1.0\nterraform 1.5.7 # or later\n"}, want: installer.DialectTerraform},
	{name: "version file: .tool-versions of tofu", files: map[string]string{".tool-versions": "# terraform 1.5.7\nopentofu 1.9.0\n"}, want: installer.DialectOpenTofu},
	{name: "version file: of the repository", files: map[string]string{"../../.terraform-version": "1.5.7"}, want: installer.DialectTerraform},
	{name: "version file: the nearest one", files: map[string]string{"../../.terraform-version": "1.5.7", "../.opentofu-version": "1.9.0"}, want: installer.DialectOpenTofu},
	{name: "version file: beyond the repository", files: map[string]string{"../../../.terraform-version": "1.5.7"}, want: installer.DialectOpenTofu, warns: "nothing in the project shows"},
	{name: "version file: a directory", files: map[string]string{".terraform-version/x": "1.5.7"}, want: installer.DialectOpenTofu, warns: "nothing in the project shows"},
	{name: "version file: large", files: map[string]string{".terraform-version": strings.Repeat("1.5.7\n", 20_000)}, want: installer.DialectOpenTofu, warns: "nothing in the project shows"},

	{name: "nothing: required_version", files: map[string]string{"cloud.tf": "terraform {\n  required_version = \"~> 1.5.0\"\n  cloud {}\n}\n"}, want: installer.DialectOpenTofu, warns: "nothing in the project shows"},

	{
		name:  "several: providers of tofu and .terraform-version",
		files: map[string]string{".terraform.lock.hcl": tofuProvider, ".terraform-version": "1.5.7"},
		want:  installer.DialectOpenTofu,
		warns: "the hosts of the lock's providers (tofu), but .terraform-version (terraform)",
	},
	{
		name:  "several: tofu files and a manifest of terraform",
		files: map[string]string{"extra.tofu": "", ".terraform/modules/modules.json": terraformManifest},
		want:  installer.DialectOpenTofu,
		warns: `the file "extra.tofu" (tofu), but the hosts in modules.json (terraform)`,
	},
	{
		name:  "several: a manifest of tofu and a comment of terraform",
		files: map[string]string{".terraform.lock.hcl": terraformLock, ".terraform/modules/modules.json": tofuManifest},
		want:  installer.DialectOpenTofu,
		warns: `the hosts in modules.json (tofu), but "terraform init" in the lock's comment (terraform)`,
	},
	{
		name:  "several: both version files",
		files: map[string]string{".opentofu-version": "1.9.0", ".terraform-version": "1.5.7"},
		want:  installer.DialectOpenTofu,
		warns: ".opentofu-version (tofu), but .terraform-version (terraform)",
	},
	{
		name:  "version file: and only tofu",
		files: map[string]string{".terraform-version": "1.5.7"},
		tools: onlyTofu,
		want:  installer.DialectTerraform,
	},
}

// Files in the project determine its dialect, in the order that DialectAuto documents. If they
// do not, a warning reports which tool was assumed.
func TestDetect(t *testing.T) {
	t.Parallel()
	for _, test := range testenv.Sample(detectCases, func(c detectCase) string { return testenv.Kind(c.name) }) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := test.project(t)
			in := p.installerOfBoth()
			req := request{Project: installer.Project{Dir: p.dir, Tools: test.tools, Dialect: test.asked, Next: test.next, LockFile: test.lockFile}}
			result, err := in.Install(context.Background(), req.Project, req.InstallOptions)
			testenv.Must(t, err)
			if result.Dialect != test.want {
				t.Errorf("the dialect is %s, want %s", result.Dialect, test.want)
			}
			p.checkWarning(t, test.warns, test.want)
			if text := p.file(result.LockFile[len(p.dir):]); test.files[".terraform.lock.hcl"] == "" && !strings.Contains(text, `"`+test.want.String()+` init", which keeps`) {
				t.Errorf("the lock's comment does not name %s:\n%s", test.want, text)
			}
			host := map[installer.Dialect]string{installer.DialectOpenTofu: "registry.opentofu.org", installer.DialectTerraform: "registry.terraform.io"}[test.want]
			for _, file := range []string{result.LockFile[len(p.dir):], ".terraform/modules/modules.json"} {
				if text := p.file(file); !strings.Contains(text, `"`+host+`/acme/network/aws"`) {
					t.Errorf("%s does not have the host %q:\n%s", file, host, text)
				}
			}
			req.Tools, req.Dialect, req.Next, req.Locked = nil, installer.DialectAuto, installer.DialectAuto, true
			again, err := in.Install(context.Background(), req.Project, req.InstallOptions)
			if err != nil || again.Dialect != test.want {
				t.Errorf("a second install = %+v, %v; want the same dialect", again, err)
			}
		})
	}
}

// checkWarning checks that there is exactly one warning about the dialect, and that it contains
// a text and the assumed dialect. If the text is "", there must be no such warning.
func (p *project) checkWarning(t *testing.T, says string, assumed installer.Dialect) {
	t.Helper()
	var warnings []string
	for line := range strings.Lines(p.events()) {
		if strings.HasPrefix(line, "Warning") && strings.Contains(line, "Kind:"+string(event.WarningDialectAssumed)) {
			warnings = append(warnings, line)
		}
	}
	consequence := `tofu was assumed, so "acme/network/aws" comes from registry.opentofu.org`
	if assumed == installer.DialectTerraform {
		consequence = `terraform was assumed, so "acme/network/aws" comes from registry.terraform.io`
	}
	switch {
	case says == "" && len(warnings) > 0:
		t.Errorf("it warns: %q", warnings)
	case says != "" && (len(warnings) != 1 || !strings.Contains(warnings[0], says) ||
		!strings.Contains(warnings[0], consequence) || !strings.Contains(warnings[0], "Range:main.tf:1,1-17 ")):
		t.Errorf("the warnings are %q, want one with %q at main.tf:1", warnings, says)
	}
}

// project writes the files of a case.
func (c detectCase) project(t *testing.T) *project {
	t.Helper()
	p := world(t, "-- config/README.md --\n-- registry/acme/network/aws/1.0.0/main.tf --\n")
	p.dir = filepath.Join(p.dir, "repository", "infra", "prod")
	p.write(t, "main.tf", "module \"network\" {\n  source = \"acme/network/aws\"\n}\n")
	p.write(t, "../../.git/HEAD", "")
	for name, text := range c.files {
		p.write(t, name, text)
	}
	return p
}

// installerOfBoth returns an installer for which the world serves the registries of both stock
// tools.
func (p *project) installerOfBoth() *installer.Installer {
	in := p.installer()
	here := map[string]any{"modules.v1": p.world.URL() + "/v1/modules/"}
	in = with(in, func(o *installer.Options) {
		o.Registry = &registryclient.Client{
			Services: &disco.Client{ForcedServices: map[addrs.Hostname]map[string]any{
				addrs.DefaultRegistryHost:   here,
				addrs.TerraformRegistryHost: here,
			}},
			HTTPClient: p.world.HTTPClient(),
		}
	})
	return in
}

// If no address depends on the dialect, there is no warning and the lock does not name a tool,
// whatever tools this machine has.
func TestDetectWithoutNeed(t *testing.T) {
	t.Parallel()
	p := world(t, `
-- config/main.tf --
module "network" {
  source = "MODTEST_HOST/acme/network/aws"
}
-- registry/acme/network/aws/1.0.0/main.tf --
`)
	result := p.mustInstall(t, request{Project: installer.Project{Tools: onlyTerraform}})
	if result.DialectMatters {
		t.Errorf("the dialect matters: %s", result.Dialect)
	}
	p.checkWarning(t, "", result.Dialect)
	if text := p.file(".terraform.lock.hcl"); !strings.Contains(text, `by "tofu init" or "terraform init"`) {
		t.Errorf("the lock's comment names one tool:\n%s", text)
	}
}

// The tool that is available on this machine also determines the dialect of calls in local modules, and
// of those in packages, which are not known when a run begins.
func TestDetectInCalledModules(t *testing.T) {
	t.Parallel()
	const network = "module \"network\" {\n  source = \"acme/network/aws\"\n}\n"
	for _, source := range []string{"./app", "git::https://MODTEST_HOST/git/app.git?ref=v1.0.0"} {
		for _, test := range []struct {
			tools []installer.Dialect
			want  installer.Dialect
			warns string
		}{
			{onlyTerraform, installer.DialectTerraform, ""},
			{onlyTofu, installer.DialectOpenTofu, ""},
			{bothTools, installer.DialectOpenTofu, "nothing in the project shows whether it is for tofu or for terraform; tofu was assumed"},
		} {
			t.Run(source+test.want.String()+test.warns, func(t *testing.T) {
				t.Parallel()
				p := world(t, "-- config/main.tf --\n"+calls("app="+source)+"-- config/app/main.tf --\n"+network+"-- git/app.git/v1.0.0/main.tf --\n"+network+"-- registry/acme/network/aws/1.0.0/main.tf --\n")
				result := mustInstall(t, p.installerOfBoth(), installer.Project{Dir: p.dir, Tools: test.tools}, installer.InstallOptions{})
				if result.Dialect != test.want || !result.DialectMatters {
					t.Errorf("Install = %+v, want %s", result, test.want)
				}
				if warned := strings.Contains(p.events(), string(event.WarningDialectAssumed)); warned != (test.warns != "") || !strings.Contains(p.events(), test.warns) {
					t.Errorf("the events are\n%s\nwant the warning %q", p.events(), test.warns)
				}
				if text, want := p.file(".terraform.lock.hcl"), test.want.String()+" init"; !strings.Contains(text, want) {
					t.Errorf("the lock's comment does not name %q:\n%s", want, text)
				}
			})
		}
	}
}

// A version file that is a symbolic link is ignored.
func TestDetectPassesOverLinks(t *testing.T) {
	t.Parallel()
	p := detectCase{files: map[string]string{"version": "1.5.7"}}.project(t)
	if err := os.Symlink("version", filepath.Join(p.dir, ".terraform-version")); err != nil {
		t.Skipf("there are no symbolic links here: %v", err)
	}
	result, err := p.installerOfBoth().Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{})
	if err != nil || result.Dialect != installer.DialectOpenTofu {
		t.Errorf("Install = %+v, %v; want tofu", result, err)
	}
}
