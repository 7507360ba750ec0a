package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/modtest"
)

// projectState is a state in which an update leaves the project if it is killed before a
// step, possibly changed by another program afterwards. The package comment of
// internal/project describes all states.
type projectState struct {
	name string
	// killedBefore is the name of the first step that was not done; "" if no update was
	// started.
	killedBefore string
	then         func(t *testing.T, s *crashScene)
	// stock is the tree that stock tools see: "old", "new", "none" or "other".
	stock string
	// install, locked and verify are the expected results of these commands.
	install, locked, verify stateEnd
}

// stateEnd is the result of a command in a state.
type stateEnd struct {
	status int
	lock   string // "old" or "new"
	says   string
}

var projectStates = []projectState{
	{
		name: "no journal", stock: "old",
		install: stateEnd{0, "old", ""}, locked: stateEnd{0, "old", ""}, verify: stateEnd{0, "old", "verified against the lock"},
	},
	{
		name: "a journal without proof", stock: "old",
		then: func(t *testing.T, s *crashScene) {
			t.Helper()
			writeText(t, filepath.Join(s.project, modules, ".cotter/journal"), "{}")
		},
		install: stateEnd{0, "old", ".cotter/journal is from another directory or user"},
		locked:  stateEnd{0, "old", ".cotter/journal is from another directory or user"},
		verify:  stateEnd{0, "old", ".cotter/journal is from another directory or user"},
	},
	{
		name: "before the manifest is away", killedBefore: "project.manifest.retire", stock: "old",
		install: stateEnd{0, "old", "was undone"}, locked: stateEnd{0, "old", "was undone"}, verify: stateEnd{1, "old", "interrupted"},
	},
	{
		name: "before the packages are in place", killedBefore: "project.package.install", stock: "none",
		install: stateEnd{0, "old", "was undone"}, locked: stateEnd{0, "old", "was undone"}, verify: stateEnd{1, "old", "interrupted"},
	},
	{
		name: "before the lock is written", killedBefore: "project.lock.rename", stock: "none",
		install: stateEnd{0, "old", "was undone"}, locked: stateEnd{0, "old", "was undone"}, verify: stateEnd{1, "old", "interrupted"},
	},
	{
		name: "after the lock is written", killedBefore: "project.copy.retire", stock: "none",
		install: stateEnd{0, "old", "was undone"}, locked: stateEnd{0, "old", "was undone"}, verify: stateEnd{1, "new", "interrupted"},
	},
	{
		name: "before the manifest is back", killedBefore: "project.manifest.install", stock: "none",
		install: stateEnd{0, "old", "was undone"}, locked: stateEnd{0, "old", "was undone"}, verify: stateEnd{1, "new", "interrupted"},
	},
	{
		name: "complete, with its journal", killedBefore: "project.journal.remove", stock: "new",
		install: stateEnd{0, "new", ""}, locked: stateEnd{0, "new", ""}, verify: stateEnd{0, "new", "verified against the lock"},
	},
	{
		name: "another program has installed since", killedBefore: "project.lock.rename", stock: "other",
		then: func(t *testing.T, s *crashScene) {
			t.Helper()
			writeText(t, filepath.Join(s.project, modules, "modules.json"), `{"Modules":[{"Key":"","Source":"","Dir":"."}]}`)
		},
		install: stateEnd{0, "old", "was given up"}, locked: stateEnd{0, "old", "was given up"}, verify: stateEnd{1, "old", "interrupted"},
	},
}

// TestStates runs each kind of command in each state in which a project can be.
func TestStates(t *testing.T) {
	t.Parallel()
	s := newCrashScene(t, "update", func(s *crashScene) { s.mustRun(t, "install") })
	newer := fstest.MapFS{"main.tf": {Data: []byte("# net 1.2.0, which calls no other module\n")}}
	if err := s.world.PushOCI("net", "1.2.0", modtest.OCIModule, newer); err != nil {
		t.Fatal(err)
	}
	locks := map[string]string{"old": s.lockText(t)}
	steps := s.steps(t)
	locks["new"] = s.lockText(t)
	if locks["old"] == locks["new"] {
		t.Fatal("the update changes nothing")
	}
	oldTree, newTree := stockView(t, filepath.Join(s.base, "saved/before/project")), stockView(t, s.project)
	for _, state := range projectStates {
		s.enter(t, state, steps)
		s.save(t, "entered")
		seen := stockView(t, s.project)
		want := map[string]map[string]string{"old": oldTree, "new": newTree, "none": nil, "other": seen}[state.stock]
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("%s: stock tools see (-want +got):\n%s", state.name, diff)
		}
		s.checkStock(t, state)
		for args, want := range map[string]stateEnd{"install": state.install, "install --locked": state.locked, "verify": state.verify} {
			s.restore(t, "entered")
			before := picture(t, s.project)
			end := s.run(args)
			at := fmt.Sprintf("cotter %s, %s", args, state.name)
			if end.status != want.status || !strings.Contains(end.out, want.says) {
				t.Errorf("%s: status %d, want %d, saying %q\n%s", at, end.status, want.status, want.says, end.out)
			}
			if diff := cmp.Diff(locks[want.lock], s.lockText(t)); diff != "" {
				t.Errorf("%s: the lock is not the %s one (-want +got):\n%s", at, want.lock, diff)
			}
			if args == "verify" {
				if diff := differing(before, picture(t, s.project)); diff != "" {
					t.Errorf("%s wrote something:\n%s", at, diff)
				}
				continue
			}
			s.checkLeftovers(t, at)
			if diff := cmp.Diff(map[string]map[string]string{"old": oldTree, "new": newTree}[want.lock], stockView(t, s.project)); diff != "" {
				t.Errorf("%s: stock tools see afterwards (-want +got):\n%s", at, diff)
			}
		}
	}
}

func (s *crashScene) enter(t *testing.T, state projectState, steps []string) {
	t.Helper()
	s.restore(t, "before")
	if state.killedBefore != "" {
		number := slices.Index(steps, state.killedBefore)
		if number < 0 {
			t.Fatalf("%s: the update has no step %s", state.name, state.killedBefore)
		}
		if out, killed := s.kill(t, number); !killed {
			t.Fatalf("%s: the update was not killed:\n%s", state.name, out)
		}
	}
	if state.then != nil {
		state.then(t, s)
	}
}

// checkStock checks with a real stock tool whether the modules are installed.
func (s *crashScene) checkStock(t *testing.T, state projectState) {
	t.Helper()
	binary, err := exec.LookPath("terraform")
	if err != nil {
		t.Log("terraform is not installed, so it was not asked")
		return
	}
	cmd := exec.Command(binary, "validate", "-no-color")
	cmd.Dir = s.project
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE=/dev/null")
	out, err := cmd.CombinedOutput()
	installed := !strings.Contains(string(out), "Module not installed")
	if want := state.stock == "old" || state.stock == "new"; installed != want || want && err != nil {
		t.Errorf("%s: terraform validate: %v\n%s", state.name, err, out)
	}
}

// exitCode returns the exit status of a command that has ended, or -1.
func exitCode(err error) int {
	var exit *exec.ExitError
	var status statusFailure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}
