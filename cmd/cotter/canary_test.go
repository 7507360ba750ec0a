package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// TestCanaries runs the command into each kind of failure with a secret in every possible
// place. No secret may appear in the output, in a file that was written, or in the arguments
// of a process that was started.
func TestCanaries(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("/bin/sh is not installed")
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	paths := failures()
	if len(paths) < 30 || len(canaries()) < 40 {
		t.Errorf("there are %d failures and %d secrets, want 30 and 40", len(paths), len(canaries()))
	}
	for i, f := range testenv.Sample(paths, func(f failure) string { return testenv.Kind(f.name) }) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t, git, f)
			for j, format := range []string{"--no-color", "--json"} {
				v.configure(t, (i+j)%2)
				v.world.ResetRequests()
				v.run(t, format)
			}
			v.searchFiles(t)
		})
	}
}

// failure is one way in which an installation can fail.
type failure struct {
	name    string // "KIND: ...", as in [testenv.Kind]
	options modtest.Options
	faults  []modtest.Fault
	// setup changes files before the command runs; nil changes nothing.
	setup func(t *testing.T, v *victim)
	// config replaces the configuration with all addresses except hg, whose server does not
	// answer in any of the failures.
	config string
	// git is shell code that a stand-in for git runs first, for example instead of a fetch;
	// "" means that only the real git runs.
	git string
	// env are additional environment variables; HOST and HOME stand for the registry and the
	// home directory.
	env []string
	// args replace "install".
	args []string
	// interrupt sends the process a signal after its first request.
	interrupt bool
	// untrusted removes the servers' certificate from the trusted ones.
	untrusted bool
	// succeeds marks an entry whose command is expected to succeed.
	succeeds bool
	// says must be in the message, which shows that the expected failure happened. The text
	// after "|" must be in the JSON output.
	says string
}

// victim is a project, a home and servers.
type victim struct {
	failure
	world             *modtest.World
	project, home     string
	cache, temporary  string
	arguments, traces string // files with the arguments of git, and with its GIT_TRACE output
	planted           map[string]bool
}

func newVictim(t *testing.T, git string, f failure) *victim {
	t.Helper()
	base := t.TempDir()
	v := &victim{
		failure: f, world: modtest.NewWith(t, modtest.Txtar(canaryTree), f.options),
		project: filepath.Join(base, "project"), home: filepath.Join(base, "home"), cache: filepath.Join(base, "cache"), temporary: filepath.Join(base, "tmp"),
		arguments: filepath.Join(base, "arguments"), traces: filepath.Join(base, "traces"), planted: map[string]bool{},
	}
	v.world.SetFaults(f.faults...)
	for _, dir := range []string{v.project, v.home, v.temporary, filepath.Join(base, "bin")} {
		testenv.Must(t, os.Mkdir(dir, 0o700))
	}
	for name, text := range canaryHome {
		v.plant(t, filepath.Join(v.home, name), text)
	}
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >>'" + v.arguments + "'\n" + strings.ReplaceAll(f.git, "GIT", git) + "\nexec '" + git + "' \"$@\"\n"
	v.plant(t, filepath.Join(base, "bin/git"), script)
	if f.setup != nil {
		f.setup(t, v)
	}
	return v
}

// configure writes the configuration. Git takes most of the time, so a failure that uses all
// addresses has only every second repository. Text and JSON output get different halves, and
// the next failure swaps them.
func (v *victim) configure(t *testing.T, odd int) {
	t.Helper()
	config := v.config
	if config == "" {
		config = canaryConfig(halfOfGit(odd)...)
	}
	v.plant(t, filepath.Join(v.project, "main.tf"), config)
}

// halfOfGit returns the names of all addresses except hg and every second git address.
func halfOfGit(odd int) []string {
	var names []string
	git := 0
	for _, name := range slices.Sorted(maps.Keys(addressesWithCanaries)) {
		if strings.HasPrefix(name, "git_") {
			if git++; git%2 != odd && !*testenv.Exhaustive {
				continue
			}
		}
		if !strings.HasPrefix(name, "hg_") {
			names = append(names, name)
		}
	}
	return names
}

// plant writes a file that may contain secrets.
func (v *victim) plant(t *testing.T, name, text string) {
	t.Helper()
	testenv.Must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	testenv.Must(t, os.WriteFile(name, []byte(v.expand(text)), 0o700))
	v.planted[name] = true
}

// expand replaces the placeholders of servers and secrets in a text.
func (v *victim) expand(text string) string {
	text = strings.NewReplacer("HOST", string(v.world.Host()), "PLAIN", v.world.PlainURL(), "HOME", v.home).Replace(text)
	for _, c := range canaries() {
		text = strings.ReplaceAll(text, "{"+c.name+"}", c.written)
	}
	return text
}

func (v *victim) command(ctx context.Context, format string) *exec.Cmd {
	args := v.args
	if args == nil {
		args = []string{"install"}
	}
	cmd := exec.CommandContext(ctx, cotterBinary, append(args[:len(args):len(args)], format)...)
	cmd.Dir = v.project
	cmd.Env = []string{
		"HOME=" + v.home, "TMPDIR=" + v.temporary, "COTTER_CACHE_DIR=" + v.cache, "CI=", "CHECKPOINT_DISABLE=1", "GIT_TRACE=" + v.traces, "GIT_CONFIG_NOSYSTEM=1",
		"PATH=" + filepath.Join(filepath.Dir(v.home), "bin") + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"GIT_SSH_COMMAND=" + filepath.Join(v.home, "ssh"),
	}
	cmd.Env = append(cmd.Env, testenv.Variables()...)
	if !v.untrusted {
		cmd.Env = append(cmd.Env, v.world.Env()...)
	}
	for _, entry := range append(canaryEnv, v.env...) {
		cmd.Env = append(cmd.Env, v.expand(entry))
	}
	return cmd
}

func (v *victim) run(t *testing.T, format string) {
	cmd := v.command(t.Context(), format)
	run := warm.outputs
	if v.interrupt {
		run = func(cmd *exec.Cmd) (string, string, error) { return v.runInterrupted(t, cmd) }
	}
	stdout, stderr, err := run(cmd)
	if (err == nil) != v.succeeds {
		t.Errorf("%v: %v\n%s%s", cmd.Args, err, stdout, stderr)
	}
	all := stdout + stderr
	if !slices.ContainsFunc(strings.Split(v.says, "|"), func(text string) bool { return strings.Contains(all, text) }) {
		t.Errorf("%q is not in\n%s", v.says, all)
	}
	v.search(t, "stdout", stdout)
	v.search(t, "stderr", stderr)
}

// runInterrupted sends the command a signal after its first request.
func (v *victim) runInterrupted(t *testing.T, cmd *exec.Cmd) (string, string, error) {
	t.Helper()
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	testenv.Must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-v.world.Requested():
		_ = cmd.Process.Signal(syscall.SIGINT)
	case err := <-ended:
		t.Fatalf("%v ended without a request: %v\n%s%s", cmd.Args, err, &stdout, &stderr)
	}
	err := <-ended
	if left := programsWith(t, v.home); len(left) > 0 {
		t.Errorf("%v left programs running: %q", cmd.Args, left)
	}
	return stdout.String(), stderr.String(), err
}

// programsWith returns the command lines of the running programs whose environment contains
// a text. It finds none on systems without /proc.
func programsWith(t *testing.T, text string) []string {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	testenv.Must(t, err)
	var found []string
	for _, name := range environments {
		environment, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(environment, []byte(text)) {
			continue // the program has ended
		}
		if line, err := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline")); err == nil {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

func (v *victim) searchFiles(t *testing.T) {
	t.Helper()
	base := filepath.Dir(v.home)
	err := filepath.WalkDir(base, func(name string, entry os.DirEntry, err error) error {
		if err != nil || v.planted[name] {
			return err
		}
		v.search(t, "the name of a file", strings.TrimPrefix(name, base))
		if !entry.Type().IsRegular() {
			return nil
		}
		if v.succeeds && entry.Name() == "modules.json" {
			return nil // stock tools expect the addresses as the configuration has them
		}
		text, err := os.ReadFile(name)
		v.search(t, strings.TrimPrefix(name, base), string(text))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func (v *victim) search(t *testing.T, where, text string) {
	t.Helper()
	for _, c := range canaries() {
		if isArguments := where == "/arguments" || where == "/traces"; isArguments && slices.Contains(inArguments, c.name) {
			continue
		}
		for _, spelling := range c.spellings {
			if i := strings.Index(text, spelling); i >= 0 {
				t.Errorf("the secret %s is in %s: ...%s", c.name, where, excerpt(text, i, len(spelling)))
				break
			}
		}
	}
}

func excerpt(text string, at, length int) string {
	return fmt.Sprintf("%q", text[max(0, at-150):min(len(text), at+length+50)])
}
