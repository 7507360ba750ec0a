package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/cotterpin/cotter/internal/testenv"
)

// stateKey is the secret that the machines of a CI system share.
const stateKey = "0123456789abcdef0123456789abcdef"

type githubWorkflow struct {
	Jobs map[string]struct {
		Steps []githubStep
	}
}

type githubStep struct {
	Name, ID, If, Uses, Run string
	With, Env               map[string]string
}

// githubAction has the parts of action.yml that the tests read.
type githubAction struct {
	Inputs map[string]struct{ Default string }
	Runs   struct{ Steps []githubStep }
}

type githubRun struct {
	*recipes
	// caches are the directories that actions/cache keeps, by their keys.
	caches map[string]string
	// secrets are the secrets of the repository.
	secrets map[string]string
}

// githubJob is a job of a run. Each job has its own machine.
type githubJob struct {
	*githubRun
	machine *machine
	repo    string
	// values are the values of expressions, by their names.
	values map[string]string
	// save is the directory that is cached at the end of the job, and saveKey is its key.
	save, saveKey string
	// asked counts the requests of each step, by the step's name.
	asked map[string]int
}

// github runs a workflow twice, on machines that have only the directories that
// actions/cache has kept from the first run.
func (r *recipes) github(t *testing.T, recipe string) {
	var workflow githubWorkflow
	testenv.Must(t, yaml.Unmarshal(readRecipe(t, recipe), &workflow))
	steps := workflow.Jobs["validate"].Steps
	run := &githubRun{recipes: r, caches: map[string]string{}, secrets: map[string]string{"COTTER_STATE_KEY": stateKey}}
	const install = "Install modules and providers"
	first := run.job(t, steps)
	if first.asked[install] == 0 {
		t.Error("the first run sent no requests to the servers")
	}
	second := run.job(t, steps)
	if n := second.asked[install]; n > 0 {
		t.Errorf("with the cache of the first run, the second one sent %d requests", n)
	}
	for _, job := range []*githubJob{first, second} {
		r.sameLocks(t, job.repo, "envs/dev", "envs/prod")
	}
}

// job runs all steps on a new machine.
func (g *githubRun) job(t *testing.T, steps []githubStep) *githubJob {
	t.Helper()
	j := &githubJob{githubRun: g, machine: g.machine(t, "bash", "git", "tofu").with("CI=true", "GITHUB_ACTIONS=true"), values: map[string]string{}, asked: map[string]int{}}
	for name, value := range g.secrets {
		j.values["secrets."+name] = value
	}
	installed := 0
	for _, step := range steps {
		if strings.Contains(step.Run, installCotter) || strings.HasPrefix(step.Uses, "cotterpin/cotter@") {
			installed++
		}
		j.step(t, step)
	}
	if installed != 1 {
		t.Errorf("%d steps install Cotter", installed)
	}
	j.machine.with("COTTER_STATE_KEY="+stateKey).mustRun(t, j.repo, "cotter", "verify", "--recursive", ".")
	if j.save != "" {
		kept := filepath.Join(t.TempDir(), "cache")
		testenv.Must(t, os.Rename(j.save, kept))
		g.caches[j.saveKey] = kept
	}
	return j
}

// step runs a step if its condition holds.
func (j *githubJob) step(t *testing.T, step githubStep) {
	t.Helper()
	switch {
	case !j.holds(t, step.If):
	case step.Run == "":
		j.action(t, step)
	default:
		j.asked[step.Name] += j.requests(func() { j.command(t, step) })
	}
}

// holds evaluates a condition, which compares values with texts. Unknown values are empty.
func (j *githubJob) holds(t *testing.T, condition string) bool {
	t.Helper()
	if condition == "" {
		return true
	}
	for comparison := range strings.SplitSeq(condition, " && ") {
		words := strings.Fields(comparison)
		if len(words) != 3 || words[1] != "==" && words[1] != "!=" {
			t.Fatalf("the test does not know the condition %q", condition)
		}
		if (j.values[words[0]] == strings.Trim(words[2], "'")) != (words[1] == "==") {
			return false
		}
	}
	return true
}

// action does the work of an action that the recipe uses.
func (j *githubJob) action(t *testing.T, step githubStep) {
	t.Helper()
	switch name, _, _ := strings.Cut(step.Uses, "@"); name {
	case "actions/checkout":
		j.repo = j.checkout(t, ".")
	case "opentofu/setup-opentofu":
		// tofu is already installed, if the tests have it.
	case "actions/cache":
		if step.ID == "program" {
			// The program is the one of these tests, as if an earlier run had compiled it.
			if !strings.Contains(step.With["key"], "env.COTTER_VERSION") {
				t.Errorf("the key %q has no version", step.With["key"])
			}
			j.values["steps.program.outputs.cache-hit"] = "true"
			return
		}
		j.cache(t, j.expand(t, step.With["path"]), j.expand(t, step.With["key"]), j.expand(t, step.With["restore-keys"]))
	case "cotterpin/cotter":
		j.ownAction(t, step)
	default:
		t.Fatalf("the test does not know the action %s", step.Uses)
	}
}

// ownAction runs the steps of action.yml, except for the one that downloads Cotter.
func (j *githubJob) ownAction(t *testing.T, step githubStep) {
	t.Helper()
	action := readAction(t)
	for name, input := range action.Inputs {
		j.values["inputs."+name] = input.Default
	}
	for name, value := range step.With {
		if _, known := action.Inputs[name]; !known {
			t.Errorf("the action has no input %q", name)
		}
		j.values["inputs."+name] = value
	}
	for _, inner := range action.Runs.Steps {
		if inner.ID == "install" {
			continue
		}
		env := maps.Clone(step.Env)
		maps.Copy(env, inner.Env)
		inner.Name, inner.Env = step.Name, env
		j.step(t, inner)
	}
}

func readAction(t *testing.T) githubAction {
	t.Helper()
	text := readFile(t, "../../action.yml")
	var action githubAction
	testenv.Must(t, yaml.Unmarshal(text, &action))
	return action
}

// TestActionCommand runs the last step of action.yml with a program that prints its arguments. On
// macOS, GitHub runs it in bash 3.2.
func TestActionCommand(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script")
	}
	needCommands(t, "bash")
	steps := readAction(t).Runs.Steps
	step := steps[len(steps)-1]
	if step.Env["COMMAND"] != "${{ inputs.command }}" {
		t.Fatalf("the last step has the environment %v", step.Env)
	}
	dir := t.TempDir()
	testenv.WriteProgram(t, filepath.Join(dir, "cotter"), "#!/bin/sh\nprintf '<%s>' \"$@\"\n")
	for name, test := range map[string]struct{ command, want string }{
		"a line":           {"install --locked", "<install><--locked>"},
		"blanks":           {"  install \t --locked ", "<install><--locked>"},
		"a block":          {"install --locked\n", "<install><--locked>"},
		"no quoting":       {`install --policy "a b" * $HOME \n`, `<install><--policy><"a><b"><*><$HOME><\n>`},
		"lines":            {"install\n--policy\ncompany rules.hcl\n", "<install><--policy><company rules.hcl>"},
		"lines as written": {"install\n--policy=a 'b' \"c\" \\ * $HOME \n", "<install><--policy=a 'b' \"c\" \\ * $HOME >"},
		"no end of line":   {"install\n--locked", "<install><--locked>"},
		"empty lines":      {"\n\ninstall\n\n--locked\n\n", "<install><--locked>"},
		"around a line":    {"\ninstall --locked\n\n", "<install><--locked>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run) // as GitHub does
			cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "COMMAND="+test.command)
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != test.want {
				t.Errorf("%q has the arguments %s, want %s; %v", test.command, out, test.want, err)
			}
		})
	}
}

// cache restores the directory that was saved with the key. If there is none, the directory is
// saved with this key at the end of the job.
func (j *githubJob) cache(t *testing.T, path, key, prefix string) {
	t.Helper()
	if key == "" || !strings.HasPrefix(key, prefix) {
		t.Fatalf("the cache has the key %q and the prefix %q", key, prefix)
	}
	kept, hit := j.caches[key]
	if !hit {
		j.save, j.saveKey = path, key
		return
	}
	testenv.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	testenv.Must(t, os.Rename(kept, path))
}

func (j *githubJob) command(t *testing.T, step githubStep) {
	t.Helper()
	if strings.HasPrefix(step.Run, "tofu ") && !j.machine.has(t, "tofu") {
		return
	}
	output := filepath.Join(t.TempDir(), "output")
	env := []string{"GITHUB_OUTPUT=" + output, "GITHUB_PATH=" + filepath.Join(t.TempDir(), "path")}
	for name, value := range step.Env {
		env = append(env, name+"="+j.expand(t, value))
	}
	out := j.machine.with(env...).mustRun(t, j.repo, "bash", "-e", "-c", step.Run)
	if strings.HasPrefix(step.Run, "tofu ") && j.downloads() > 0 {
		t.Errorf("tofu has downloaded providers:\n%s", out)
	}
	text, err := os.ReadFile(output)
	if err != nil {
		return // the step has no outputs
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		j.values["steps."+step.ID+".outputs."+name] = value
	}
}

var githubExpression = regexp.MustCompile(`\$\{\{ *([\w.]+) *\}\}`)

// expand replaces the expressions in a text.
func (j *githubJob) expand(t *testing.T, text string) string {
	t.Helper()
	return githubExpression.ReplaceAllStringFunc(text, func(expression string) string {
		value, known := j.values[githubExpression.FindStringSubmatch(expression)[1]]
		if !known {
			t.Errorf("%s has no value", expression)
		}
		return value
	})
}

type gitlabJob struct {
	Variables    map[string]string
	BeforeScript []string `yaml:"before_script"`
	Script       []string
	Cache        []struct {
		Key   gitlabKey
		Paths []string
	}
}

// gitlabKey is a text, or a prefix with names of files.
type gitlabKey struct {
	Text, Prefix string
	Files        []string
}

// UnmarshalYAML reads both forms.
func (k *gitlabKey) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&k.Text)
	}
	type plain gitlabKey
	return node.Decode((*plain)(k))
}

// gitlab runs the job on two machines without git, and copies the cache from the first to
// the second.
func (r *recipes) gitlab(t *testing.T) {
	var jobs map[string]gitlabJob
	testenv.Must(t, yaml.Unmarshal(readRecipe(t, "gitlab.yml"), &jobs))
	job := jobs["validate"]
	run := func(repo string) int {
		builds := filepath.Dir(repo)
		if err := os.Chmod(builds, 0o777); err != nil { //nolint:gosec // as GitLab does
			t.Fatal(err)
		}
		m := r.machine(t, "sh", "chmod").with("CI=true", "CI_BUILDS_DIR="+builds, "CI_PROJECT_DIR="+repo, "COTTER_STATE_KEY="+stateKey)
		for name, value := range job.Variables {
			m = m.with(name + "=" + strings.ReplaceAll(value, "$CI_PROJECT_DIR", repo))
		}
		withoutInstallation(t, job.BeforeScript) // the machine has Cotter, so the command does not install it
		script := slices.Concat([]string{"set -e"}, job.BeforeScript, job.Script)
		asked := r.requests(func() { m.mustRun(t, repo, "sh", "-c", strings.Join(script, "\n")) })
		r.sameLocks(t, repo, "envs/dev", "envs/prod")
		return asked
	}
	first, second := r.checkout(t, "."), r.checkout(t, ".")
	if run(first) == 0 {
		t.Error("the first run sent no requests to the servers")
	}
	program, packages := job.Cache[0], job.Cache[1]
	if !strings.Contains(program.Key.Text, "$COTTER_VERSION") || job.Variables["GOBIN"] != "$CI_PROJECT_DIR/"+program.Paths[0] {
		t.Errorf("the program is cached as %+v", program)
	}
	for _, path := range packages.Paths {
		testenv.Must(t, os.Rename(filepath.Join(first, path), filepath.Join(second, path)))
	}
	if n := run(second); n > 0 {
		t.Errorf("with the cache of the first run, the second one sent %d requests", n)
	}
	for _, file := range packages.Key.Files {
		if _, err := os.Stat(filepath.Join(r.commit, file)); err != nil {
			t.Error(err)
		}
	}
}
