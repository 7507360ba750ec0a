//go:build linux || darwin

package main

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

// matrixSample are the worlds that run without -exhaustive.
var matrixSample = []string{"corpus/package_links", "script/providers"}

// The states of a project in which commands read it.
type matrixStateKind int

const (
	justInstalled    matrixStateKind = iota
	freshCheckout                    // with the lock, by a user with an empty cache
	installedByStock                 // by the init of a stock tool
	matrixStates
)

func (k matrixStateKind) String() string {
	return [...]string{"just installed", "fresh checkout", "installed by a stock tool"}[k]
}

// succeeds and the others are how a command ends in a state: success, failure, either of both as the state of the
// project has it, or there is no such cell.
const (
	succeeds = 's'
	fails    = 'f'
	either   = 'e'
	notRun   = '-'
)

// matrixCommands are the command lines that read a project. KEY and PROVIDER are a call and a provider of the project,
// PINNED is the lock with the addresses of the packages as the sources, and BUNDLE is a file.
var matrixCommands = []struct {
	line string
	ends string // in the order of the states
}{
	{"verify --json", "see"},
	{"verify --remote --json", "see"},
	{"tree", "sss"},
	{"tree --json", "sss"},
	{"tree --evidence --json", "sss"},
	{"tree --format mermaid", "s--"},
	{"tree --format dot", "s--"},
	{"tree --format html", "s--"},
	{"tree --only modules --json", "s--"},
	{"tree --only providers --json", "s--"},
	{"tree --json KEY", "ss-"},
	{"tree --json PROVIDER", "ss-"},
	{"outdated --all --json", "sss"},
	{"update --dry-run --json", "sss"},
	{"diff --json PINNED LOCK", "ss-"},
	{"lock --check --json", "sse"},
	{"sbom", "sss"},
	{"cache key --json", "sse"},
	{"doctor --json", "sss"},
	{"bundle create --json --out BUNDLE", "sse"},
	{"install --dry-run --json", "sss"},
	{"install --locked --json", "s--"},
	{"install --json", "s--"},
}

type matrixException struct{ pattern, reason string }

// find reports whether the pattern matches a name, and remembers that it was needed.
func (e matrixException) find(name string) bool {
	found := regexp.MustCompile(e.pattern).MatchString(name)
	if found {
		usedExceptions.Store(e.pattern, true)
	}
	return found
}

// matrixExceptions are the cells that end otherwise, with the reason. A pattern matches the name of a root module and
// of a cell, as in "corpus/nested .: just installed: verify --json".
var matrixExceptions = []matrixException{
	{`^corpus/past_hand_merged schemes .*: verify --remote`, "its lock has a hash that no package of the provider has"},
	{`^script/(mirror_settings|mirror_dirs) .*: doctor`, "the mirror in its settings has no repository, which is a problem"},
}

// matrixRefused are the root modules that no command can install, with the reason, in the same form.
var matrixRefused = []matrixException{
	{`^corpus/lock_link `, "the lock is a link"},
	{`^stock/directories \. `, "sources that name the test's own directory"},
	{`^install/(wrong_calls|computed_errors|computed_hostile) `, "calls that are errors"},
	{`^install/(cycle_local|cycle_registry|same_key) `, "trees that are errors"},
	{`^install/(git|oci)_ambiguous_version `, "a version is offered twice"},
	{`^install/(escapes_package|directory_missing) `, "sources outside of the package, or of no directory"},
	{`^install/replace_directory fork/modules/small `, "it calls a registry that does not exist, unless another root module replaces it"},
	{`^script/((directories|file_reads|sha256|submodules|hg|archives_xz) \.|file_reads repo/envs/prod) `, "sources that name the script's own directory, or a file above it"},
	{`^script/(dialect guess|past_terraform_lock_tofu \.|hints (local|wrong)|update_changes \.) `, "a package that the servers do not have before the script adds it, or at all"},
	{`^(install/terraform_dialect|corpus/(read_only_tools|past_locked app)) `, "no module requires a locked provider, whose registry does not exist"},
	{`^script/(hints ssh|stock_mirror \.|doctor (other|s3|wrong|rewritten)|doctor_airgap call) `, "a host that does not exist, or asks for credentials"},
	{`^script/(diff_interface configs|errors bad) `, "files of several configurations"},
	{`^script/(init variable|no_lock unread|variables(_terraform)? (\.|secret)) `, "a source needs a variable from the command line"},
	{`^script/(policy (all|branches|denied|led|projects/b)|project_settings envs/west) `, "the policy does not allow it"},
	{`^script/settings_git \. `, "the settings are invalid"},
}

// matrixCount counts what a run of the matrix has covered.
var matrixCount struct{ roots, refused, cells atomic.Int64 }

// usedExceptions has the patterns of the exceptions that were needed.
var usedExceptions sync.Map

func TestMatrix(t *testing.T) {
	t.Parallel()
	needCommands(t, "git")
	worlds := 0
	t.Run("worlds", func(t *testing.T) {
		for _, file := range matrixWorlds(t) {
			w := readMatrixWorld(t, file)
			if !*testenv.Exhaustive && !slices.Contains(matrixSample, w.name) {
				continue
			}
			worlds++
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				w.test(t)
			})
		}
	})
	t.Logf("%d cells: %d root modules of %d worlds in both layouts; install refuses %d", matrixCount.cells.Load(), matrixCount.roots.Load()/2, worlds, matrixCount.refused.Load()/2)
	for _, e := range slices.Concat(matrixExceptions, matrixRefused) {
		if _, used := usedExceptions.Load(e.pattern); *testenv.Exhaustive && !used {
			t.Errorf("nothing needs the exception %q any more", e.pattern)
		}
	}
}

func (w *matrixWorld) test(t *testing.T) {
	w.start(t)
	for _, layout := range []string{"link", "copy"} {
		user := w.user(t, layout)
		for _, dir := range w.roots(t) {
			r := &matrixRoot{matrixWorld: w, name: dir, layout: layout, facts: newMatrixFacts()}
			t.Run(layout+" "+dir, func(t *testing.T) { r.test(t, user) })
		}
	}
}

// matrixRoot is a root module of a world, in a layout.
type matrixRoot struct {
	*matrixWorld
	name, layout string
	facts        *matrixFacts
}

// test goes through the states, as far as they depend on the layout.
func (r *matrixRoot) test(t *testing.T, user *site) {
	installed := r.state(user, justInstalled)
	if end := installed.run(t, "install --json"); end.Status != 0 {
		matrixCount.refused.Add(1)
		if !slices.ContainsFunc(matrixRefused, func(e matrixException) bool { return e.find(installed.name("install")) }) {
			t.Errorf("install refuses it: %s", excerptOf(end))
		}
		return
	}
	matrixCount.roots.Add(1)
	installed.test(t)
	if _, err := os.Stat(installed.names["BUNDLE"]); err == nil {
		carried := r.state(r.user(t, r.layout), freshCheckout)
		carried.lockLike(t, installed)
		r.world.ResetRequests()
		carried.mustRun(t, "install --locked --json --bundle "+installed.names["BUNDLE"])
		if asked := r.world.Requests(); len(asked) > 0 {
			t.Errorf("an installation from the bundle sent requests: %v", asked)
		}
	}
	fresh := r.state(r.user(t, r.layout), freshCheckout)
	fresh.lockLike(t, installed)
	if r.layout == "link" {
		fresh.test(t)
	}
	fresh.mustRun(t, "install --locked --json")
	fresh.mustRun(t, "verify --json")
	if r.layout == "link" {
		r.testStock(t)
	}
}

// testStock lets a stock tool install the project first, whose versions stay in use.
func (r *matrixRoot) testStock(t *testing.T) {
	t.Helper()
	tool, err := exec.LookPath(cmp.Or(r.tool, "tofu"))
	if err != nil {
		return
	}
	r.facts = newMatrixFacts() // another version can be selected
	s := r.state(r.user(t, r.layout), installedByStock)
	cmd := exec.CommandContext(t.Context(), tool, "init", "-no-color", "-input=false", "-backend=false")
	cmd.Dir, cmd.Env = s.dir, s.user.environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("%s refuses it: %v\n%s", tool, err, out)
		return
	}
	s.test(t)
	s.mustRun(t, "install --json")
	s.mustRun(t, "verify --json")
}

func (r *matrixRoot) state(user *site, kind matrixStateKind) *matrixState {
	dir := filepath.Join(user.project, filepath.FromSlash(r.name))
	lock := r.lockFile
	if found, err := repository.ReadSettings(func(string) string { return "" }, dir); err == nil {
		lock = cmp.Or(lock, found.LockFile)
	}
	return &matrixState{root: r, user: user, state: kind, dir: dir, facts: r.facts, names: map[string]string{
		"BUNDLE": filepath.Join(user.tmp, "bundle.tar"), "PINNED": filepath.Join(user.tmp, "pinned.hcl"), "LOCK": filepath.Join(dir, cmp.Or(lock, lockfile.Name)),
	}}
}

// matrixState is a root module in a state.
type matrixState struct {
	root  *matrixRoot
	user  *site
	state matrixStateKind
	dir   string
	lock  *lockfile.File    // nil without a lock file
	names map[string]string // what words in command lines stand for
	facts *matrixFacts
}

func (s *matrixState) name(of string) string {
	return s.root.matrixWorld.name + " " + s.root.name + " " + s.root.layout + ": " + s.state.String() + ": " + of
}

func (s *matrixState) run(t *testing.T, line string) workerEnd {
	t.Helper()
	args := strings.Fields(line)
	for i, arg := range args {
		args[i] = cmp.Or(s.names[arg], arg)
	}
	end, err := s.user.workers.do(workerCommand{Dir: s.dir, Env: s.user.environment(), Args: args})
	testenv.Must(t, err)
	return end
}

// lockLike gives a checkout the locks of an installation.
func (s *matrixState) lockLike(t *testing.T, installed *matrixState) {
	t.Helper()
	for _, name := range []string{lockfile.Name, filepath.Base(s.names["LOCK"])} {
		if text, err := os.ReadFile(filepath.Join(installed.dir, name)); err == nil {
			testenv.WriteFile(t, filepath.Join(s.dir, name), string(text))
		}
	}
}

// mustRun runs a command that completes a state.
func (s *matrixState) mustRun(t *testing.T, line string) {
	t.Helper()
	s.check(t, line, succeeds, s.run(t, line))
}

// test runs all commands, and calls the library.
func (s *matrixState) test(t *testing.T) {
	t.Helper()
	if text, err := os.ReadFile(s.names["LOCK"]); err == nil {
		s.lock, err = lockfile.Parse(text, lockfile.Name)
		testenv.Must(t, err)
		testenv.WriteFile(t, s.names["PINNED"], string(pinnedLock(s.lock).Bytes()))
	}
	if s.state != installedByStock {
		s.facts.lock(t, s.name("the lock"), s.lock)
	}
	for _, m := range s.lock.Modules() {
		s.names["KEY"] = m.Key
	}
	before := picture(t, s.dir)
	unchanged := func(by string) {
		t.Helper()
		after := picture(t, s.dir)
		if changes := differing(before, after); changes != "" {
			t.Errorf("%s: the project has changed:\n%s", s.name(by), changes)
			before = after
		}
	}
	for _, c := range matrixCommands {
		needsLock := strings.Contains(c.line, "LOCK")
		if end := c.ends[s.state]; end != notRun && !(needsLock && s.lock == nil) && s.named(c.line) {
			s.check(t, c.line, end, s.run(t, c.line))
			unchanged(c.line)
		}
	}
	s.library(t)
	unchanged("the library")
}

// named reports whether the project has the call or the provider that a command line names.
func (s *matrixState) named(line string) bool {
	if known, ok := s.facts.known["a provider"]; ok {
		s.names["PROVIDER"] = known.value
	}
	for _, word := range strings.Fields(line) {
		if (word == "KEY" || word == "PROVIDER") && s.names[word] == "" {
			return false
		}
	}
	return true
}

// check checks the end of a command, and what it says about the project.
func (s *matrixState) check(t *testing.T, line string, want byte, end workerEnd) {
	t.Helper()
	name := s.name(line)
	var wrong []string
	switch {
	case end.Status > 1, end.Status == 1 && want == succeeds, end.Status == 0 && want == fails:
		wrong = append(wrong, "the exit status is wrong")
	}
	if strings.Contains(line, "--json") {
		wrong = append(wrong, wrongJSON(end)...)
	}
	matrixCount.cells.Add(1)
	if wrong != nil {
		s.fault(t, name, strings.Join(wrong, "; ")+": "+excerptOf(end))
		return
	}
	if end.Status == 0 {
		s.facts.read(t, name, string(end.Stdout))
	}
}

// ended checks the end of a call of the library, which must succeed.
func (s *matrixState) ended(t *testing.T, call string, err error) {
	t.Helper()
	matrixCount.cells.Add(1)
	if err != nil {
		s.fault(t, s.name(call), err.Error())
	}
}

// fault fails the test unless the cell is an exception.
func (s *matrixState) fault(t *testing.T, cell, text string) {
	t.Helper()
	if !slices.ContainsFunc(matrixExceptions, func(e matrixException) bool { return e.find(cell) }) {
		t.Errorf("%s: %s", cell, text)
	}
}

// wrongJSON compares the JSON of a command with its exit status: a success has one result and no error, and a failure
// has an error and no result of a success.
func wrongJSON(end workerEnd) (wrong []string) {
	results, successes, errs := 0, 0, 0
	for line := range strings.Lines(string(end.Stdout)) {
		var record struct {
			Type   string
			OK     *bool
			Unread []any
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			wrong = append(wrong, err.Error())
		}
		if record.OK != nil {
			results++
			if *record.OK {
				successes++
			}
			if end.Status == 0 && len(record.Unread) > 0 {
				wrong = append(wrong, "not all of the configuration was read")
			}
		}
		if record.Type == "error" {
			errs++
		}
	}
	switch {
	case end.Status == 0 && (results != 1 || successes != 1 || errs > 0):
		wrong = append(wrong, "a success has one result and no error")
	case end.Status != 0 && (successes > 0 || errs == 0):
		wrong = append(wrong, "a failure has an error, and no result that is OK")
	}
	if len(end.Stderr) > 0 {
		wrong = append(wrong, "something was written to standard error")
	}
	return wrong
}

// excerptOf returns the errors in an output, or the beginning of it.
func excerptOf(end workerEnd) string {
	var found []string
	for line := range strings.Lines(string(end.Out)) {
		if strings.Contains(line, `"type":"error"`) || strings.Contains(line, `"level":"problem"`) || !strings.HasPrefix(line, "{") {
			found = append(found, line)
		}
	}
	text := cmp.Or(strings.Join(found, ""), string(end.Out))
	return text[:min(len(text), 1500)]
}
