package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// kills is the number of processes, in all scenarios together, that are killed before a
// random step. In addition, one process is killed before the first step of each name. With
// -exhaustive, processes are killed before the last step of each name too, and scenarios that
// share most of their steps with another one are run as well.
func kills() int {
	if *testenv.Exhaustive {
		return 300
	}
	return 24
}

// These variables are set for a child process. They name the file to which it writes the
// names of its steps, the step before which it kills itself (by number or name), and the
// step that fails and its error number: "12 28".
const (
	stepsVariable = "COTTER_TEST_STEPS"
	killVariable  = "COTTER_TEST_KILL"
	failVariable  = "COTTER_TEST_FAIL"
)

func mainWithSteps() {
	if os.Getenv(workerVariable) != "" {
		if err := work(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	watchSteps()
	main()
}

// watchSteps installs the hooks that the variables ask for.
func watchSteps() {
	number, failAt, fault := 0, -1, 0
	killAt := os.Getenv(killVariable)
	if text := os.Getenv(failVariable); text != "" {
		_, _ = fmt.Sscan(text, &failAt, &fault)
	}
	var names *os.File
	if file := os.Getenv(stepsVariable); file != "" {
		names, _ = os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	if killAt == "" && failAt < 0 && names == nil {
		return
	}
	hold := make(chan struct{}, 1) // serializes the steps of several goroutines
	atomicfile.SetStepHook(func(name string) error {
		hold <- struct{}{}
		defer func() { <-hold }()
		if killAt == name || killAt == strconv.Itoa(number) {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			panic(fmt.Sprintf("not killed: %v", err))
		}
		number++
		if number-1 == failAt {
			return syscall.Errno(fault)
		}
		if names != nil {
			_, _ = names.WriteString(name + "\n")
		}
		return nil
	})
}

// crashScene is a command that is killed, in its own project.
type crashScene struct {
	*site
	args string
	// other is another command that follows the killed one; "" if only the same one does.
	other string
}

// crashWorld has servers from which installing starts no processes, except for the module
// git, which one scenario calls.
const crashWorld = `
-- project/main.tf --
module "net" {
  source = "oci://MODTEST_HOST/net?version=~> 1.0"
}
module "part" {
  source = "https://MODTEST_HOST/archives/mono.zip//modules/a"
}
-- project/git.txt --
module "git" {
  source = "git::https://MODTEST_HOST/git/mono.git//modules/a?ref=v1.0.0"
}
-- oci/net/1.0.0/main.tf --
# net 1.0.0
-- oci/net/1.1.0/main.tf --
module "zip" {
  source = "https://MODTEST_HOST/archives/n.zip"
}
-- archives/mono.zip/modules/a/main.tf --
# a
-- archives/mono.zip/modules/b/main.tf --
# b
-- archives/n.zip/main.tf --
# zip
-- git/mono.git/v1.0.0/modules/a/main.tf --
# a
-- git/mono.git/v1.0.0/modules/b/main.tf --
# b
`

// newCrashScene runs earlier commands to create the state in which a command will be killed.
func newCrashScene(t *testing.T, args string, earlier ...func(s *crashScene)) *crashScene {
	t.Helper()
	return newCrashSceneIn(t, modtest.New(t, modtest.Txtar(crashWorld)), args, earlier...)
}

// newCrashSceneIn is like newCrashScene, but with a world that contains the project.
func newCrashSceneIn(t *testing.T, world *modtest.World, args string, earlier ...func(s *crashScene)) *crashScene {
	t.Helper()
	s := &crashScene{site: newSite(t, world), args: args}
	testenv.Must(t, s.world.WriteTree(s.project, "project"))
	for _, do := range earlier {
		do(s)
	}
	s.save(t, "before")
	return s
}

// kill runs the command in its own process, which kills itself before a step. It returns the output, and
// whether the process was killed: concurrent runs do not always have the same number of steps.
func (s *crashScene) kill(t *testing.T, number int) (out string, killed bool) {
	t.Helper()
	text, err := s.command(s.args, killVariable+"="+strconv.Itoa(number)).CombinedOutput()
	exit, failed := errors.AsType[*exec.ExitError](err)
	return string(text), failed && !exit.Exited()
}

// fail runs the command, in which a step fails.
func (s *crashScene) fail(number int, fault syscall.Errno) ending {
	return s.run(s.args, fmt.Sprintf("%s=%d %d", failVariable, number, int(fault)))
}

// thenRun adds another command that must succeed after the killed one, and must end as if the
// killed one had either not begun or had been complete.
func (s *crashScene) thenRun(args string) *crashScene {
	s.other = args
	return s
}

// runAgain runs the command once more, which must succeed.
func (s *crashScene) runAgain(t *testing.T, at string) {
	t.Helper()
	if end := s.run(s.args); end.status != 0 && !strings.HasPrefix(s.args, "lock") { // that may have nothing to do
		t.Errorf("%s: the next run: status %d\n%s", at, end.status, end.out)
	}
}

func changeFile(t *testing.T, file, old, text string) func(*crashScene) {
	return func(s *crashScene) {
		t.Helper()
		s.write(t, file, strings.Replace(string(readFile(t, filepath.Join(s.project, file))), old, text, 1))
	}
}

// setting returns a step of a scene that gives the project a setting.
func setting(t *testing.T, line string) func(*crashScene) {
	return func(s *crashScene) {
		t.Helper()
		s.write(t, "cotter.hcl", "settings {\n  "+line+"\n}\n")
	}
}

// TestCrash kills real processes before each named step and before random ones. Afterwards,
// stock tools see the old tree, no tree, or the new one. The next run ends as if the killed
// one had not happened, and leaves no files behind. In some scenarios, each step fails as well.
func TestCrash(t *testing.T) {
	t.Parallel()
	install := func(s *crashScene) { s.mustRun(t, "install") }
	copies := setting(t, `layout = "copy"`)
	noZip := changeFile(t, "main.tf", `=~> 1.0"`, `=1.0.0"`)
	anyNet := changeFile(t, "main.tf", `=1.0.0"`, `=~> 1.0"`)
	noPart := changeFile(t, "main.tf", `module "part"`, `module "other"`)
	bare := func(s *crashScene) { remove(t, filepath.Join(s.project, ".terraform")) }
	withGit := func(s *crashScene) {
		testenv.Must(t, os.Rename(filepath.Join(s.project, "git.txt"), filepath.Join(s.project, "git.tf")))
	}
	linked := func(s *crashScene) {
		dir := filepath.Join(s.base, "linked")
		testenv.WriteFile(t, filepath.Join(dir, "main.tf"), "# linked\n")
		s.write(t, "main.tf", fmt.Sprintf("module \"part\" {\n  source = %q\n}\n", dir))
	}
	rewritten := func(s *crashScene) { s.write(t, lockFile, "# rewritten\n") }
	// The share is the part of the random kills that a scenario gets; fast ones get more.
	// With a prefix, only steps whose names begin with it are tested, because an earlier
	// scenario covers the others in the same state.
	scenes := []struct {
		name   string
		share  int
		prefix string
		scene  *crashScene
		faults bool
	}{
		{"cold install", 1, "", newCrashScene(t, "install"), true},
		{"cold install from git", 0, "cache.", newCrashScene(t, "install", withGit), false},
		{"cold install of copies", 1, "project.", newCrashScene(t, "install", copies), false},
		{"update", 3, "", newCrashScene(t, "update", noZip, install, anyNet).thenRun("install"), true},
		{"changed calls", 3, "project.", newCrashScene(t, "install", noZip, install, anyNet, noPart), false},
		{"a link in the place of a package", 1, "project.", newCrashScene(t, "install", install, linked), false},
		{"locked in a fresh checkout", 4, "", newCrashScene(t, "install --locked", install, bare), true},
		{"restore", 4, "", newCrashScene(t, "lock --offline", install, rewritten), false},
		{"rewritten lock", 1, "project.", newCrashScene(t, "install", install, rewritten), true},
		{"cache clean", 4, "", newCrashScene(t, "cache clean", install), false},
	}
	shares := 0
	for _, c := range scenes {
		shares += c.share
	}
	named := 0
	for _, c := range scenes {
		steps := c.scene.steps(t)
		numbers := firstOfEachName(steps, c.prefix)
		if *testenv.Exhaustive {
			numbers = firstAndLast(steps)
		}
		named += len(numbers)
		kind := func(number int) string { return kindOfStep(steps[number]) }
		numbers = testenv.Sample(numbers, kind)
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			undisturbed := picture(t, c.scene.project)
			c.scene.test(t, steps, numbers, kills()*c.share/shares)
			if c.faults {
				c.scene.testFaults(t, steps, testenv.Sample(firstOfEachName(steps, ""), kind), undisturbed)
			}
		})
	}
	if named < 60 {
		t.Errorf("there are %d named steps in all scenarios, want at least 60", named)
	}
}

// kindOfStep says what is changed: "project" of "project.lock.rename".
func kindOfStep(name string) string {
	kind, _, _ := strings.Cut(name, ".")
	return kind
}

// steps returns the names of the steps of the command, in order.
func (s *crashScene) steps(t *testing.T) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "steps")
	if end := s.run(s.args, stepsVariable+"="+file); end.status != 0 {
		t.Fatalf("cotter %s: status %d\n%s", s.args, end.status, end.out)
	}
	return strings.Fields(string(readFile(t, file)))
}

// firstOfEachName returns the number of the first step of each name with a prefix.
func firstOfEachName(steps []string, prefix string) []int {
	var numbers []int
	for i, name := range steps {
		if strings.HasPrefix(name, prefix) && slices.Index(steps, name) == i {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// firstAndLast returns the numbers of the first and the last step of each name.
func firstAndLast(steps []string) []int {
	numbers := firstOfEachName(steps, "")
	for i, name := range steps {
		if slices.Index(steps, name) != i && !slices.Contains(steps[i+1:], name) {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// test kills the command before the steps with these numbers, and before the given number of
// random ones. The command must already have run once.
func (s *crashScene) test(t *testing.T, steps []string, numbers []int, random int) {
	want := s.picture(t)
	seed := rand.Uint64()
	t.Logf("the random steps are of seed %d", seed)
	source := rand.New(rand.NewPCG(seed, 0))
	for range random {
		numbers = append(numbers, source.IntN(len(steps)))
	}
	newTree, others := stockView(t, s.project), s.otherPictures(t)
	s.restore(t, "before")
	oldTree := stockView(t, s.project)
	for _, number := range numbers {
		s.restore(t, "before")
		out, killed := s.kill(t, number)
		if !killed {
			continue
		}
		at := fmt.Sprintf("killed before step %d, about %s", number, steps[number])
		seen := stockView(t, s.project)
		if seen != nil && !cmp.Equal(seen, oldTree) && !cmp.Equal(seen, newTree) {
			t.Errorf("%s: stock tools see neither the old nor the new tree (-old +seen):\n%s\n%s", at, cmp.Diff(oldTree, seen), out)
		}
		s.testOther(t, at, others)
		s.runAgain(t, at)
		if diff := cmp.Diff(want, s.picture(t)); diff != "" {
			t.Errorf("%s, and run again (-undisturbed +got):\n%s\n%s", at, diff, out)
		}
		s.checkLeftovers(t, at)
	}
}

// otherPictures returns what the other command leaves if the killed one was complete, and if it
// had not begun. The command must have just run.
func (s *crashScene) otherPictures(t *testing.T) []map[string]string {
	t.Helper()
	if s.other == "" {
		return nil
	}
	var pictures []map[string]string
	for range 2 {
		s.mustRun(t, s.other)
		pictures = append(pictures, picture(t, s.project))
		s.restore(t, "before")
	}
	return pictures
}

// testOther runs the other command in the state that a killed one has left, and restores that
// state.
func (s *crashScene) testOther(t *testing.T, at string, want []map[string]string) {
	t.Helper()
	if s.other == "" {
		return
	}
	s.save(t, "killed")
	if end := s.run(s.other); end.status != 0 {
		t.Errorf("%s: cotter %s: status %d\n%s", at, s.other, end.status, end.out)
	} else if got := picture(t, s.project); !cmp.Equal(got, want[0]) && !cmp.Equal(got, want[1]) {
		t.Errorf("%s, and cotter %s: the project is as after neither the old nor the new state (-old +got):\n%s", at, s.other, cmp.Diff(want[1], got))
	}
	s.checkLeftovers(t, at+", and another command")
	s.restore(t, "killed")
}

// picture returns the files that the command leaves in the project and the names of the
// cache entries.
func (s *crashScene) picture(t *testing.T) map[string]string {
	t.Helper()
	files := picture(t, s.project)
	for _, kept := range []string{"cache/tree/*", "cache/provider/package/*"} {
		trees, err := filepath.Glob(filepath.Join(s.base, kept))
		testenv.Must(t, err)
		for _, tree := range trees {
			files["cache "+filepath.Base(tree)] = ""
		}
	}
	return files
}

// checkLeftovers reports files that a killed process has left behind.
func (s *crashScene) checkLeftovers(t *testing.T, at string) {
	t.Helper()
	for _, pattern := range []string{
		"project/*.tmp", "project/.*.tmp", "project/.terraform/modules/*.tmp", "project/.terraform/modules/.cotter/*.tmp", "project/.terraform/modules/.cotter/.*.tmp",
		"project/.terraform/modules/.cotter/stage/*", "project/.terraform/modules/.cotter/retired", "project/.terraform/modules/.cotter/journal",
		"project/.terraform/providers/.*", "cache/provider/stage/*", "cache/stage/*", "state/cotter/.*", "state/cotter/*.tmp",
	} {
		left, err := filepath.Glob(filepath.Join(s.base, pattern))
		if err != nil || len(left) > 0 {
			t.Errorf("%s: left over: %v, %v", at, left, err)
		}
	}
}

// stockView returns the tree that a stock tool sees: the files of the modules in
// modules.json. It returns nil if there is no such file.
func stockView(t *testing.T, project string) map[string]string {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join(project, ".terraform/modules/modules.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || len(bytes.TrimSpace(manifest)) == 0 {
		t.Errorf("modules.json has %q, %v", manifest, err)
		return nil
	}
	files := map[string]string{"modules.json": string(manifest)}
	for name, content := range picture(t, project) {
		if strings.HasPrefix(name, modules) && !strings.HasPrefix(name, modules+".cotter/") {
			files[name] = content
		}
	}
	return files
}
