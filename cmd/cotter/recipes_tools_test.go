package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/mattn/go-shellwords"
	"go.yaml.in/yaml/v3"

	"github.com/cotterpin/cotter/internal/testenv"
)

// preCommit runs the hook before two commits: one with complete locks, and one with a call
// that is not locked.
func (r *recipes) preCommit(t *testing.T) {
	var config struct {
		Repos []struct {
			Hooks []struct {
				Entry, Language, Files string
				PassFilenames          bool `yaml:"pass_filenames"`
			}
		}
	}
	testenv.Must(t, yaml.Unmarshal(readRecipe(t, "pre-commit.yaml"), &config))
	hook := config.Repos[0].Hooks[0]
	files := regexp.MustCompile(hook.Files)
	for name, want := range map[string]bool{
		"main.tf": true, "envs/prod/x.tf.json": true, "a.tofu": true, "envs/.terraform.lock.hcl": true,
		"README.md": false, "main.tf.bak": false, "prod.tfvars": false,
	} {
		if files.MatchString(name) != want {
			t.Errorf("the hook runs for %s: %v", name, !want)
		}
	}
	words, err := shellwords.Parse(hook.Entry)
	if err != nil || hook.Language != "system" || hook.PassFilenames {
		t.Fatalf("the hook is %+v (%v)", hook, err)
	}
	m, repo := r.machine(t), r.checkout(t, ".")
	m.mustRun(t, repo, words[0], words[1:]...)
	name := filepath.Join(repo, "envs/dev/more.tf")
	call := "module \"tags\" {\n  source = \"" + r.world.Source("acme/tags/aws") + "\"\n}\n"
	testenv.WriteFile(t, name, call)
	if out, err := m.run(repo, words[0], words[1:]...); err == nil {
		t.Errorf("the hook lets a call pass that is not locked:\n%s", out)
	}
	r.sameLocks(t, repo, "envs/dev", "envs/prod")
	if found, err := filepath.Glob(filepath.Join(repo, "envs/*/.terraform")); err != nil || found != nil {
		t.Errorf("the hook leaves %q (%v)", found, err)
	}
}

// atlantis runs the hook as the Atlantis server does, in a clone of the repository.
func (r *recipes) atlantis(t *testing.T) {
	var config struct {
		Repos []struct {
			Hooks []struct{ Run string } `yaml:"pre_workflow_hooks"`
		}
	}
	testenv.Must(t, yaml.Unmarshal(readRecipe(t, "atlantis.yaml"), &config))
	m, repo := r.machine(t, "sh", "git", "tofu"), r.checkout(t, ".")
	for _, hook := range config.Repos[0].Hooks {
		m.mustRun(t, repo, "sh", "-c", hook.Run)
	}
	r.sameLocks(t, repo, "envs/dev", "envs/prod")
	m.mustRun(t, repo, "cotter", "verify", "--recursive", ".")
	// Atlantis then runs the stock tool.
	if m.has(t, "tofu") {
		r.world.ResetRequests()
		m.mustRun(t, filepath.Join(repo, "envs/prod"), "tofu", "init", "-input=false")
		if n := r.downloads(); n > 0 {
			t.Errorf("tofu has downloaded %d providers", n)
		}
		r.sameLocks(t, repo, "envs/prod")
	}
}

// terragrunt runs the hook in the directory of a unit, with and without the environment
// of a build server.
func (r *recipes) terragrunt(t *testing.T) {
	commands := hookCommands(t, readRecipe(t, "terragrunt.hcl"))
	m, unit := r.machine(t), r.checkout(t, "envs/prod")
	for _, words := range commands {
		m.with("CI=true").mustRun(t, unit, words[0], words[1:]...)
	}
	r.sameLock(t, unit, "envs/prod")
	remove(t, filepath.Join(unit, lockFile))
	for _, words := range commands {
		if out, err := m.with("CI=true").run(unit, words[0], words[1:]...); err == nil {
			t.Errorf("without a lock the hook succeeds on a build server:\n%s", out)
		}
		m.mustRun(t, unit, words[0], words[1:]...)
	}
	m.mustRun(t, unit, "cotter", "verify")
}

// hookCommands returns the commands that the hooks before init execute.
func hookCommands(t *testing.T, text []byte) [][]string {
	t.Helper()
	file, diags := hclparse.NewParser().ParseHCL(text, "terragrunt.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	content, diags := file.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "terraform"}}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var commands [][]string
	for _, block := range content.Blocks {
		inner, diags := block.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "before_hook", LabelNames: []string{"name"}}}})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for _, hook := range inner.Blocks {
			attributes, diags := hook.Body.JustAttributes()
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if before := stringsOf(t, attributes["commands"]); len(before) != 1 || before[0] != "init" {
				t.Errorf("the hook runs before %q", before)
			}
			commands = append(commands, stringsOf(t, attributes["execute"]))
		}
	}
	if len(commands) == 0 {
		t.Fatal("there is no hook")
	}
	return commands
}

func stringsOf(t *testing.T, attribute *hcl.Attribute) []string {
	t.Helper()
	value, diags := attribute.Expr.Value(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var words []string
	for _, word := range value.AsValueSlice() {
		words = append(words, word.AsString())
	}
	return words
}

// docker builds the last image of the Dockerfile, without git and from a cache that is not
// part of the image, with and without the secret.
func (r *recipes) docker(t *testing.T) {
	r.buildImage(t, true)
	r.buildImage(t, false)
}

func (r *recipes) buildImage(t *testing.T, withSecret bool) {
	t.Helper()
	text := strings.ReplaceAll(string(readRecipe(t, "Dockerfile")), "\\\n", " ")
	var image *machine
	var dir string
	var installations []string
	last := strings.Count("\n"+text, "\nFROM ")
	for line := range strings.Lines(text) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if instruction == "FROM" {
			last--
			continue
		}
		switch {
		case instruction == "RUN" && last > 0:
			installations = append(installations, strings.TrimPrefix(rest, "CGO_ENABLED=0 "))
		case last > 0:
		case image == nil:
			image = r.machine(t, "sh", "tofu")
		}
		if image == nil {
			continue
		}
		switch instruction {
		case "COPY":
			if rest == ". ." {
				dir = r.checkout(t, "envs/prod")
			}
		case "RUN":
			r.buildStep(t, image, dir, rest, withSecret)
		}
	}
	withoutInstallation(t, installations)
	r.sameLock(t, dir, "envs/prod")
	if left, err := filepath.Glob(filepath.Join(image.home, ".local/state/cotter/*")); err != nil || left != nil {
		t.Errorf("the image has the state %q (%v), with the key", left, err)
	}
	image.mustRun(t, dir, "cotter", "verify")
}

// mounts matches the mount options of RUN.
var mounts = regexp.MustCompile(`--mount=type=(\w+),(\S+)\s+`)

// buildStep runs a command of a Dockerfile. Mounted directories are not part of the image.
func (r *recipes) buildStep(t *testing.T, image *machine, dir, run string, withSecret bool) {
	t.Helper()
	if strings.HasPrefix(run, "tofu ") {
		if !image.has(t, "tofu") {
			return
		}
		r.world.ResetRequests()
		defer func() {
			if n := r.downloads(); n > 0 {
				t.Errorf("tofu has downloaded %d providers", n)
			}
		}()
	}
	var mounted []string
	m := image
	for _, mount := range mounts.FindAllStringSubmatch(run, -1) {
		switch mount[1] {
		case "cache", "tmpfs":
			target, ok := strings.CutPrefix(mount[2], "target=/root/")
			if !ok {
				t.Fatalf("a directory is mounted at %s", mount[2])
			}
			target = filepath.Join(image.home, target)
			testenv.Must(t, os.MkdirAll(target, 0o755))
			mounted = append(mounted, target)
		case "secret":
			if _, variable, _ := strings.Cut(mount[2], "env="); withSecret {
				m = m.with(variable + "=" + stateKey)
			}
		}
	}
	m.mustRun(t, dir, "sh", "-c", mounts.ReplaceAllString(run, ""))
	for _, dir := range mounted {
		content, err := os.ReadDir(dir)
		if err != nil || len(content) == 0 && !(withSecret && strings.Contains(dir, "state")) {
			t.Errorf("the mounted directory %s is not used: %v", dir, err)
		}
		remove(t, dir)
	}
}
