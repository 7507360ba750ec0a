//go:build linux || darwin

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// linkSecret is in every word that a file of linkTargets could show.
const linkSecret = "cnry7linkz"

// linkTargets are files of the machine that a repository must not show. A name that begins with "@" is below
// the home directory, and others are below the directory that contains the repository.
var linkTargets = map[string]string{
	"@.netrc":              "machine SECRET.example login SECRET password SECRET\nmachine b\nlogin SECRET\npassword SECRET\n",
	"@.gitconfig":          "[url \"https://user:SECRET@h.example/\"]\n\tinsteadOf = https://h.example/\n",
	"@.tofurc":             "credentials \"SECRET.example\" {\n  token = \"SECRET\"\n  SECRET\n}\n",
	"@.docker/config.json": `{"auths": {"SECRET": {"auth": "SECRET"}}, "module": SECRET}`,
	"repo/.git/config":     "[http \"https://user:SECRET@h.example/\"]\n\textraHeader = SECRET\n[remote \"origin\"]\n\turl = SECRET\n",
	"repo/.env":            "export TOKEN=SECRET\nmodule SECRET\nSECRET=\"a\"\nSECRET=\"b\"\nTOKEN=\"SECRET\"\n",
	"elsewhere/key":        "SECRET\n",
	"elsewhere/creds":      "[default]\naws_secret_access_key = SECRET\nmodule = {SECRET = }\n",
	"elsewhere/main.tf":    "provider \"aws\" {\n  secret_key = \"SECRET\"\n}\nmodule \"SECRET \" {\n}\nterraform {\n  required_providers {\n    a = \"SECRET\"\n  }\n}\npassword = \"SECRET\" SECRET\n",
	"elsewhere/cotter.hcl": "settings {\n  SECRET = \"SECRET\"\n}\n",
	"elsewhere/x.tf.json":  `{"module": {"SECRET": {"source": SECRET}}, "SECRET": "SECRET"}`,
}

// linkNames are files of a repository that the commands read; For a directory, which
// ends in "/", the target is a copy in it.
var linkNames = []string{
	"cotter.hcl", "../cotter.hcl", "z.tf", "variables.tf", "z.tofu", "x_override.tf", "z.tf.json", "x_override.tf.json", "terraform.tfvars", "x.auto.tfvars", "x.auto.tfvars.json",
	".terraform.lock.hcl", "z.tftest.hcl", "tests/z.tftest.hcl", "tests/z.tofutest.json", "app/z.tf", "app/", "../shared/", "app/nested/", "tests/",
	".terraform/environment", ".terraform/modules/modules.json", "ci.tfrc", "ci.tf",
}

// linkCommands are those that a repository's pull requests run.
var linkCommands = []string{
	"install", "install --json", "install --locked", "lock --check --json", "verify --json", "verify", "verify --remote", "tree", "tree --json", "tree --format dot", "outdated --json",
	"outdated", "update --dry-run", "diff --format markdown", "diff", "diff --json", "lock --check", "sbom", "cache key", "doctor", "doctor --json", "bundle create x.tar", "verify --recursive", "install --locked --recursive --json",
}

// linkKind says how a file is read.
func linkKind(name string) string {
	switch {
	case strings.HasSuffix(name, "/"):
		return "directory"
	case strings.HasSuffix(name, ".json"):
		return "JSON"
	}
	return "native syntax"
}

// TestLinkedSecrets commits links to files of the machine in the place of each file that is read. No output
// has a word of them. Each combination runs some of the commands, and all with -exhaustive.
func TestLinkedSecrets(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, nil)
	for at, name := range testenv.Sample(linkNames, linkKind) {
		t.Run(strings.ReplaceAll(name, "/", "∕"), func(t *testing.T) {
			t.Parallel()
			runs := 0
			for i, target := range slices.Sorted(maps.Keys(linkTargets)) {
				for _, relative := range []bool{false, true} {
					s := newLinkSite(t, world)
					s.link(t, name, target, relative)
					commands := linkCommands
					if !*testenv.Exhaustive {
						first := (at + 5*i) % len(linkCommands)
						commands = append(linkCommands[:2:2], slices.Concat(linkCommands, linkCommands)[first:first+3]...)
					}
					for _, command := range commands {
						end := s.run(command)
						runs++
						if end.status > 3 || end.status < 0 {
							t.Errorf("%s, with %s -> %s: status %d", command, name, target, end.status)
						}
						if strings.Contains(end.out, linkSecret) {
							t.Errorf("%s, with %s -> %s, prints:\n%s", command, name, target, end.out)
						}
					}
				}
			}
			t.Logf("%d runs", runs)
		})
	}
}

// newLinkSite returns a repository with a root module that reads a file of each kind.
func newLinkSite(t *testing.T, world *modtest.World) *site {
	t.Helper()
	s := newSite(t, world)
	repo := filepath.Join(s.base, "repo")
	s.project = filepath.Join(repo, "root")
	for name, text := range linkTargets {
		testenv.WriteFile(t, linkTarget(s, name), strings.ReplaceAll(text, "SECRET", linkSecret))
	}
	testenv.WriteFile(t, filepath.Join(repo, ".git/HEAD"), "ref: refs/heads/main\n")
	s.write(t, "main.tf", "variable \"v\" {\n  default = \"app\"\n}\nmodule \"app\" {\n  source = \"./app\"\n}\nmodule \"b\" {\n  source = \"./${var.v}\"\n}\nmodule \"shared\" {\n  source = \"../shared\"\n}\n")
	s.write(t, "app/main.tf", "module \"nested\" {\n  source = \"./nested\"\n}\n")
	s.write(t, "app/nested/main.tf", "")
	s.write(t, "../shared/main.tf", "")
	return s
}

func linkTarget(s *site, name string) string {
	if below, ok := strings.CutPrefix(name, "@"); ok {
		return filepath.Join(s.home, below)
	}
	return filepath.Join(s.base, name)
}

// link puts a link to a target in the place of a file of the root module.
func (s *site) link(t *testing.T, name, target string, relative bool) {
	t.Helper()
	at, to := filepath.Join(s.project, name), linkTarget(s, target)
	if strings.HasSuffix(name, "/") {
		text, err := os.ReadFile(to)
		testenv.Must(t, err)
		to = filepath.Join(s.base, "elsewhere/dir")
		for _, name := range []string{"z.tf", "z.tf.json", "z.tftest.hcl"} {
			testenv.WriteFile(t, filepath.Join(to, name), string(text))
		}
		remove(t, at)
	}
	if strings.HasPrefix(name, "ci.") {
		s.env = append(s.env, "TF_CLI_CONFIG_FILE="+at)
	}
	testenv.Must(t, os.MkdirAll(filepath.Dir(at), 0o755))
	if relative {
		var err error
		to, err = filepath.Rel(filepath.Dir(at), to)
		testenv.Must(t, err)
	}
	makeLink(t, to, at)
}

// TestExcerpts says which lines errors show: those of files of the repository that are configuration, also
// through links, and without a repository those of the files that are reached without links.
func TestExcerpts(t *testing.T) {
	t.Parallel()
	const broken = "module \"broken\" {\n  source = \"./x\" here\n}\n"
	world := modtest.New(t, nil)
	for _, test := range []struct {
		name string
		// files have the broken text, unless they begin with "+": those are empty, and a directory if they end
		// in a slash. links are pairs of a name and a target. All are below the directory with the project.
		files, links []string
		home         string
		project      string // "repo/root" if it is ""
		shown        bool
	}{
		{name: "in the repository", files: []string{"+repo/.git/", "repo/root/z.tf"}, shown: true},
		{name: "in a work tree", files: []string{"+repo/.git", "repo/root/z.tf"}, shown: true},
		{name: "local module", files: []string{"+repo/.git/", "repo/shared/z.tf"}, shown: true},
		{name: "shared file", files: []string{"+repo/.git/", "repo/common/variables.tf"}, links: []string{"repo/root/variables.tf", "../common/variables.tf"}, shown: true},
		{name: "shared directory", files: []string{"+repo/.git/", "repo/common/z.tf"}, links: []string{"repo/shared", "common"}, shown: true},
		{name: "generated file", files: []string{"+repo/.git/", "repo/root/_gen.tf"}, shown: true},
		{name: "override", files: []string{"+repo/.git/", "repo/root/x_override.tf"}, shown: true},
		{name: "no repository", files: []string{"repo/root/z.tf"}, shown: true},
		{name: "link without repository", files: []string{"repo/root/real/z.tf"}, links: []string{"repo/root/z.tf", "real/z.tf"}, shown: true},
		{name: "local module through a link, without repository", files: []string{"other/z.tf"}, links: []string{"repo/shared", "../other"}, shown: true},
		{name: "local module without repository", files: []string{"repo/shared/z.tf"}, shown: true},
		{name: "repository is the home directory", files: []string{"+repo/.git/", "repo/root/z.tf"}, home: "repo", shown: true},
		{name: "local module in the home directory", files: []string{"+repo/.git/", "repo/shared/z.tf"}, home: "repo", shown: true},
		{name: "project is the home directory", files: []string{"+repo/.git/", "repo/root/z.tf"}, home: "repo/root", shown: true},
		{name: "project through a link", files: []string{"+real/.git/", "real/root/z.tf"}, links: []string{"repo", "real"}, shown: true},
		{name: "cotter.hcl", files: []string{"+repo/.git/", "repo/root/cotter.hcl"}, shown: true},
		{name: "shared cotter.hcl", files: []string{"+repo/.git/", "repo/common/cotter.hcl"}, links: []string{"repo/root/cotter.hcl", "../common/cotter.hcl"}, shown: true},

		{name: "outside", files: []string{"+repo/.git/", "other/z.tf"}, links: []string{"repo/root/z.tf", "../../other/z.tf"}},
		{name: "local module outside", files: []string{"+repo/.git/", "other/z.tf"}, links: []string{"repo/shared", "../other"}},
		{name: "in .git", files: []string{"repo/.git/z.tf"}, links: []string{"repo/root/z.tf", "../.git/z.tf"}},
		{name: "in .git of a submodule", files: []string{"+repo/.git/", "repo/sub/.git/z.tf"}, links: []string{"repo/root/z.tf", "../sub/.git/z.tf"}},
		{name: "other suffix", files: []string{"+repo/.git/", "repo/root/terraform.token"}, links: []string{"repo/root/z.tf", "terraform.token"}},
		{name: "values", files: []string{"+repo/.git/", "repo/x.tfvars"}, links: []string{"repo/root/z.tf", "../x.tfvars"}},
		{name: "lock", files: []string{"+repo/.git/", "repo/x.hcl"}, links: []string{"repo/root/z.tf", "../x.hcl"}},
		{name: "outside without repository", files: []string{"other/z.tf"}, links: []string{"repo/root/z.tf", "../../other/z.tf"}},
		{name: "beside, in the home directory", files: []string{"+repo/.git/", "repo/other/z.tf"}, links: []string{"repo/root/z.tf", "../other/z.tf"}, home: "repo"},
		{name: "hidden, in the home directory", files: []string{"+repo/.git/", "repo/.config/z.tf"}, links: []string{"repo/root/z.tf", "../.config/z.tf"}, home: "repo"},
		{name: "cotter.hcl outside", files: []string{"+repo/.git/", "other/cotter.hcl"}, links: []string{"repo/root/cotter.hcl", "../../other/cotter.hcl"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, world)
			for _, name := range test.files {
				name, empty := strings.CutPrefix(name, "+")
				text := broken
				if empty {
					text = ""
				}
				if dir, ok := strings.CutSuffix(name, "/"); ok {
					name = dir + "/HEAD"
				}
				testenv.WriteFile(t, filepath.Join(s.base, name), text)
			}
			for i := 0; i < len(test.links); i += 2 {
				at := filepath.Join(s.base, test.links[i])
				testenv.Must(t, os.MkdirAll(filepath.Dir(at), 0o755))
				makeLink(t, test.links[i+1], at)
			}
			if test.home != "" {
				s.home = filepath.Join(s.base, test.home)
				testenv.WriteFile(t, filepath.Join(s.home, "cli.tfrc"), "")
			}
			s.project = filepath.Join(s.base, "repo/root")
			s.write(t, "main.tf", "module \"shared\" {\n  source = \"../shared\"\n}\n")
			testenv.Must(t, os.MkdirAll(filepath.Join(s.base, "repo/shared"), 0o755))
			end := s.run("install")
			if end.status == 0 {
				t.Errorf("status 0")
			}
			if shown := strings.Contains(end.out, fmt.Sprintf("| %s", "  source = \"./x\" here")) || strings.Contains(end.out, "| module \"broken\""); shown != test.shown {
				t.Errorf("a line is shown: %t, want %t\n%s", shown, test.shown, end.out)
			}
		})
	}
}
