package installer_test

import (
	"strings"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
)

// Results contain the credentials of source addresses only if the request asks for them, and
// events never do.
func TestKeepCredentials(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t"
	p := world(t, `
-- config/main.tf --
module "tagged" {
  source = "git::https://user:`+secret+`@MODTEST_HOST/git/net.git?ref=v1.0.0"
}
module "ranged" {
  source = "git::https://user:`+secret+`@MODTEST_HOST/git/net.git?version=~> 1.0"
}
-- git/net.git/v1.0.0/main.tf --
`)
	mustInstall(t, p.installer(), installer.Project{Dir: p.dir}, installer.InstallOptions{})
	if strings.Contains(p.events(), secret) {
		t.Errorf("an event has the password:\n%s", p.events())
	}
	load := func(in *installer.Installer, project installer.Project) []string {
		result, err := in.Load(t.Context(), project, installer.LoadOptions{BestEffort: true})
		testenv.Must(t, err)
		return sourcesOf(result)
	}
	for name, sources := range map[string]func(*installer.Installer, installer.Project) []string{
		"install": func(in *installer.Installer, project installer.Project) []string {
			return sourcesOf(mustInstall(t, in, project, installer.InstallOptions{}))
		},
		"load": load,
		"unresolved": func(in *installer.Installer, project installer.Project) []string {
			project.DataDir = "elsewhere"
			return load(in, project)
		},
		"outdated": func(in *installer.Installer, project installer.Project) (texts []string) {
			list, err := in.Outdated(t.Context(), project, installer.OriginOptions{})
			testenv.Must(t, err)
			for _, o := range list.Modules {
				texts = append(texts, o.Call.Source, o.Source.String())
			}
			return texts
		},
	} {
		for _, keep := range []bool{false, true} {
			found := sources(p.installer(), installer.Project{Dir: p.dir, KeepCredentials: keep})
			if len(found) != 4 {
				t.Errorf("%s: the sources are %q, want those of two calls", name, found)
			}
			for _, text := range found {
				if strings.Contains(text, secret) != keep {
					t.Errorf("%s: source %s; want the password: %v", name, text, keep)
				}
			}
		}
	}
}

// sourcesOf returns the sources of modules, as they are written and parsed.
func sourcesOf(result *installer.Result) (texts []string) {
	for _, m := range result.Modules {
		texts = append(texts, m.Call.Source, m.Source.String())
	}
	for _, u := range result.Unresolved {
		texts = append(texts, u.Call.Source, u.Source.String())
	}
	return texts
}

// A source that does not parse is reported without its password.
func TestKeepCredentialsOfNoAddress(t *testing.T) {
	t.Parallel()
	p := world(t, "-- config/main.tf --\nmodule \"bad\" {\n  source = \"git::https://user:s3cr3t@[::1/net.git\"\n}\n")
	result, err := p.installer().Load(t.Context(), installer.Project{Dir: p.dir}, installer.LoadOptions{BestEffort: true})
	testenv.Must(t, err)
	if len(result.Unresolved) != 1 || result.Unresolved[0].Source != nil || strings.Contains(result.Unresolved[0].Call.Source, "s3cr3t") {
		t.Errorf("Unresolved = %+v, want one without the password", result.Unresolved)
	}
}
