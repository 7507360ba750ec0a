package installer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
)

// dialectFilesWorld has two versions of a module, and one in a registry.
const dialectFilesWorld = `
-- config/README.md --
-- git/net.git/v1/main.tf --
-- git/net.git/v2/main.tf --
`

// callOf returns a call of a version of the module. URL is replaced.
func callOf(name, tag string) string {
	return "module \"" + name + "\" {\n  source = \"git::URL/git/net.git?ref=" + tag + "\"\n}\n"
}

const localCall = "module \"app\" {\n  source = \"./app\"\n}\n"

const (
	tofuHost   = "provider \"registry.opentofu.org/hashicorp/null\" {\n  version = \"3.2.1\"\n}\n"
	ofTofu     = "tofu and terraform read different files here, and the lock is only for what tofu reads\n  "
	netDiffers = `module net: "git::URL/git/net.git?ref=v1" (main.tofu:2) for tofu, "git::URL/git/net.git?ref=v2" (main.tf:2) for terraform`
)

var dialectFilesCases = []struct {
	name  string
	files map[string]string
	asked installer.Dialect
	// differs is the text about the difference; "" if there is none.
	differs string
	// settled says that the difference is a warning even if the lock must fit.
	settled bool
}{
	{name: "two sources of a call", files: map[string]string{"main.tofu": callOf("net", "v1"), "main.tf": callOf("net", "v2")}, differs: ofTofu + netDiffers},
	{name: "for tofu", files: map[string]string{"main.tofu": callOf("net", "v1"), "main.tf": callOf("net", "v2")}, asked: installer.DialectOpenTofu, differs: ofTofu + netDiffers, settled: true},
	{name: "for terraform", files: map[string]string{"main.tofu": callOf("net", "v1"), "main.tf": callOf("net", "v2")}, asked: installer.DialectTerraform,
		differs: strings.Replace(ofTofu+netDiffers, "what tofu", "what terraform", 1), settled: true},
	{name: "hosts in the lock", files: map[string]string{"main.tofu": callOf("net", "v1"), "main.tf": callOf("net", "v2"), ".terraform.lock.hcl": tofuHost}, differs: ofTofu + netDiffers, settled: true},
	{name: "hosts in the lock contradict", files: map[string]string{"main.tofu": callOf("net", "v1"), "main.tf": callOf("net", "v2"), ".terraform.lock.hcl": tofuHost}, asked: installer.DialectTerraform,
		differs: strings.Replace(ofTofu+netDiffers, "what tofu", "what terraform", 1)},
	{name: "no calls for tofu", files: map[string]string{"main.tofu": "", "main.tf": callOf("net", "v2")}, differs: ofTofu + `module net: nothing for tofu, "git::URL/git/net.git?ref=v2" (main.tf:2) for terraform`},
	{name: "the same in both", files: map[string]string{"main.tofu": "# tofu\n" + callOf("net", "v1"), "main.tf": callOf("net", "v1")}},
	{name: "JSON", files: map[string]string{
		"main.tofu.json": `{"module": {"net": {"source": "git::URL/git/net.git?ref=v1"}}}`, "main.tf.json": `{"module": {"net": {"source": "git::URL/git/net.git?ref=v2"}}}`,
	}, differs: ofTofu + `module net: "git::URL/git/net.git?ref=v1" (main.tofu.json:1) for tofu, "git::URL/git/net.git?ref=v2" (main.tf.json:1) for terraform`},
	{name: "an override", files: map[string]string{"a_override.tofu": callOf("net", "v1"), "main.tf": callOf("net", "v2")},
		differs: ofTofu + `module net: "git::URL/git/net.git?ref=v1" (a_override.tofu:2) for tofu, "git::URL/git/net.git?ref=v2" (main.tf:2) for terraform`},
	{name: "a file that only adds", files: map[string]string{"more.tofu": callOf("more", "v1"), "main.tf": callOf("net", "v2")}},
	{name: "only files of tofu", files: map[string]string{"main.tofu": callOf("net", "v1")}},
	{name: "a variable", files: map[string]string{
		"main.tf": "module \"net\" {\n  source = \"git::URL/git/net.git?ref=${var.tag}\"\n}\n",
		"v.tofu":  "variable \"tag\" {\n  default = \"v1\"\n}\n", "v.tf": "variable \"tag\" {\n  default = \"v2\"\n}\n",
	}, asked: installer.DialectOpenTofu, differs: ofTofu + `module net: "git::URL/git/net.git?ref=v1" (main.tf:2) for tofu, "git::URL/git/net.git?ref=v2" (main.tf:2) for terraform`, settled: true},
	{name: "a local module, called twice", files: map[string]string{
		"main.tf": localCall + strings.Replace(localCall, `"app"`, `"two"`, 1), "app/main.tofu": callOf("net", "v1"), "app/main.tf": callOf("net", "v2"),
	}, differs: ofTofu + strings.NewReplacer("module net", "module app.net", "main.t", "app/main.t").Replace(netDiffers)},
	{name: "a provider", files: map[string]string{
		"main.tf": callOf("net", "v1"), "v.tofu": required(`null = { source = "hashicorp/null", version = "~> 3.0" }`), "v.tf": required(`null = { source = "acme/null" }`),
	}, differs: ofTofu + `provider acme/null: nothing for tofu, any version (v.tf:3) for terraform` + "\n  " + `provider hashicorp/null: "~> 3.0" (v.tofu:3) for tofu, nothing for terraform`},
	{name: "in a package", files: map[string]string{"main.tf": "module \"p\" {\n  source = \"git::URL/git/both.git?ref=v1\"\n}\n"}},
}

// If tofu and terraform read different calls or requirements in the project's own modules, a locked
// run and Verify fail unless it is settled which tool the project is for. Otherwise they warn.
func TestDialectFiles(t *testing.T) {
	t.Parallel()
	for _, row := range dialectFilesCases {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, dialectFilesWorld+strings.ReplaceAll("-- git/both.git/v1/main.tf --\n"+callOf("net", "v2")+"-- git/both.git/v1/main.tofu --\n"+callOf("net", "v1"), "URL", "https://MODTEST_HOST"))
			for name, text := range row.files {
				p.write(t, name, strings.ReplaceAll(text, "URL", p.world.URL()))
			}
			var warned []event.Warning
			in := withWarnings(p.installer(), &warned)
			check := func(what string, locked bool, err error, warned []event.Warning) {
				t.Helper()
				want, text := row.differs, ""
				for _, w := range warned {
					if what == "Verify" || strings.Contains(w.Message, "read different files") {
						text += w.Message
					}
				}
				if locked && !row.settled && want != "" {
					var differs *installer.DialectError
					if !errors.As(err, &differs) {
						t.Fatalf("%s: %v; want a *DialectError", what, err)
					}
					text += differs.Error()
				} else if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if diff := cmp.Diff(want, strings.ReplaceAll(text, p.world.URL(), "URL")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
			req := request{Project: installer.Project{Dir: p.dir, Dialect: row.asked}}
			_, err := in.Install(t.Context(), req.Project, req.InstallOptions)
			check("Install", false, err, warned)

			warned = nil
			req.Locked = true
			_, err = in.Install(t.Context(), req.Project, req.InstallOptions)
			check("a locked Install", true, err, warned)
			if p.file(".terraform.lock.hcl") == "" {
				return // there is nothing to verify
			}
			report, err := in.Verify(t.Context(), req.Project, installer.VerifyOptions{})
			testenv.Must(t, err)
			check("Verify", true, errors.Join(report.Stale...), report.Warnings)
		})
	}
}
