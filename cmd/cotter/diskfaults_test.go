package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// diskFaults are the disk errors with which a step fails.
var diskFaults = []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EACCES, syscall.EDQUOT, syscall.EMFILE}

// mayBeLeftOut reports whether a command may succeed without a step. Only steps that later
// runs can make up for may be left out.
func mayBeLeftOut(name string) bool {
	return strings.HasPrefix(name, "cache.") || strings.HasPrefix(name, "project.sums.") ||
		name == "project.journal.remove" || name == "project.retired.remove"
}

// testFaults makes steps of the command, by their numbers, fail with a disk error. A command that still succeeds has
// done its work. A command that fails reports the error and leaves the project unchanged, and the next run
// ends as if nothing had happened. The command must already have run once.
func (s *crashScene) testFaults(t *testing.T, steps []string, numbers []int, want map[string]string) {
	t.Helper()
	s.restore(t, "before")
	before := picture(t, s.project)
	for _, i := range numbers {
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
			s.follow(t, at, end.out)
		}
		s.runAgain(t, at)
		if diff := cmp.Diff(want, picture(t, s.project)); diff != "" {
			t.Errorf("%s, and run again (-undisturbed +got):\n%s", at, diff)
		}
		s.checkLeftovers(t, at)
	}
}

// follow checks that an error says what to do, and runs the commands that it advises, which succeed without the fault.
func (s *crashScene) follow(t *testing.T, at, out string) {
	t.Helper()
	if _, remedies := withoutExcerpt(out); remedies == 0 {
		t.Errorf("%s: the error says nothing about what to do:\n%s", at, out)
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "Error:") {
			continue
		}
		for _, command := range advisedCommand.FindAllStringSubmatch(line, -1) {
			if end := s.run(strings.Join(words(command[1]), " ")); end.status != 0 {
				t.Errorf("%s: %s\ncotter %s: status %d\n%s", at, line, command[1], end.status, end.out)
			}
		}
	}
}
