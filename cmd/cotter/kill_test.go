package main

import (
	"bufio"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/modtest"
)

// TestKill kills real installations, each after one more event, and lets the next run
// finish. The outcome must be the same as that of an undisturbed installation.
func TestKill(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, demoTree())
	undisturbed := world.Dir(t, "config")
	if out, err := warm.output(cotterIn(world, undisturbed, t.TempDir())); err != nil {
		t.Fatalf("cotter install: %v\n%s", err, out)
	}
	want := files(t, undisturbed)
	step := 1
	if testing.Short() {
		step = 8
	}
	for events, finished := 0, false; !finished; events += step {
		dir, cache := world.Dir(t, "config"), t.TempDir()
		finished = killAfter(t, cotterIn(world, dir, cache), events)
		if out, err := warm.output(cotterIn(world, dir, cache)); err != nil {
			t.Fatalf("cotter install after one was killed at event %d: %v\n%s", events, err, out)
		}
		if diff := cmp.Diff(want, files(t, dir)); diff != "" {
			t.Errorf("killed at event %d and run again (-undisturbed +got):\n%s", events, diff)
		}
	}
}

func cotterIn(world *modtest.World, dir, cache string) *exec.Cmd {
	cmd := exec.Command(cotterBinary, "install", "--json")
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), world.Env()...), "CI=", "COTTER_CACHE_DIR="+cache, "COTTER_STATE_DIR="+cache+"-state")
	return cmd
}

// killAfter kills a command after it has printed the given number of events. It reports
// whether the command ended by itself before that.
func killAfter(t *testing.T, cmd *exec.Cmd, events int) bool {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for range events {
		if !lines.Scan() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("cotter install: %v", err)
			}
			return true
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed, so it returns an error
	return false
}

// files returns the files that stock tools see in a project.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.Contains(name, "/.cotter/") {
			return err
		}
		text, err := os.ReadFile(name)
		found[strings.TrimPrefix(name, dir)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
