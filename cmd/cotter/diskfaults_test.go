package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
)

// diskFaults are the disk errors with which a step fails.
var diskFaults = []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EACCES, syscall.EDQUOT, syscall.EMFILE}

// TestDiskFaults makes each named step of real processes fail with a disk error. A command
// that still succeeds has done its work. A command that fails reports the error and leaves
// the project unchanged, and the next run ends as if nothing had happened.
func TestDiskFaults(t *testing.T) {
	t.Parallel()
	install := func(s *crashScene) { s.mustRun(t, "install") }
	vendors := setting(t, `vendor = "vendor"`)
	vendor := func(s *crashScene) { s.mustRun(t, "install"); vendors(s); s.mustRun(t, "install") }
	oldNet, newNet := changeFile(t, "main.tf", `=~> 1.0"`, `=1.0.0"`), changeFile(t, "main.tf", `=1.0.0"`, `=~> 1.0"`)
	for _, c := range []struct {
		name  string
		scene *crashScene
	}{
		{"cold install", newCrashScene(t, "install")},
		{"locked in a fresh checkout", newCrashScene(t, "install --locked", install, func(s *crashScene) { remove(t, s.project+"/.terraform") })},
		{"rewritten lock", newCrashScene(t, "install", install, func(s *crashScene) { s.write(t, lockFile, "# rewritten\n") })},
		{"vendor", newCrashScene(t, "install", install, vendors)},
		{"update of vendored modules", newCrashScene(t, "update", oldNet, vendor, newNet)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.scene.testFaults(t)
		})
	}
}

// mayBeLeftOut reports whether a command may succeed without a step. Only steps that later
// runs can make up for may be left out.
func mayBeLeftOut(name string) bool {
	return strings.HasPrefix(name, "cache.") || strings.HasPrefix(name, "project.sums.") ||
		name == "project.journal.remove" || name == "project.retired.remove"
}

func (s *crashScene) testFaults(t *testing.T) {
	steps := s.steps(t)
	want := picture(t, s.project)
	s.restore(t, "before")
	before := picture(t, s.project)
	for _, i := range testenv.Sample(firstOfEachName(steps, "")) {
		name, fault := steps[i], diskFaults[i%len(diskFaults)]
		s.restore(t, "before")
		at := fmt.Sprintf("%v at step %d, about %s", fault, i, name)
		end := s.fail(i, fault)
		switch {
		case end.status == 0:
			if diff := cmp.Diff(want, picture(t, s.project)); diff != "" && !mayBeLeftOut(name) {
				t.Errorf("%s: success, with another result (-undisturbed +got):\n%s\n%s", at, diff, end.out)
			}
		case end.status != 1 || !strings.Contains(end.out, "Error: ") || strings.Contains(end.out, "panic"):
			t.Errorf("%s: status %d, want 1 and an error:\n%s", at, end.status, end.out)
		default:
			if diff := differing(before, picture(t, s.project)); diff != "" {
				t.Errorf("%s: the command failed and wrote something (-before +after):\n%s\n%s", at, diff, end.out)
			}
		}
		s.runAgain(t, at)
		if diff := cmp.Diff(want, picture(t, s.project)); diff != "" {
			t.Errorf("%s, and run again (-undisturbed +got):\n%s", at, diff)
		}
		s.checkLeftovers(t, at)
	}
}
