package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// remedies are those in the golden outputs, which TestGolden follows.
type remedies struct {
	t       *testing.T
	scripts atomic.Int32 // that have begun
	exempt  sync.Map     // the indexes in notFollowed that were needed
}

// remediesKey is the key of a *remedies in the values of a script. It is nil if they are not followed.
type remediesKey struct{}

var (
	advisedCommand = regexp.MustCompile("`cotter ([^`]+)`")
	advisedFlags   = regexp.MustCompile("`(--[^`]+)`")
)

// notFollowed are remedies that are not enough in a script, or in all of them.
var notFollowed = []struct{ script, remedy, reason string }{
	{"", "which `cotter doctor` shows", "the user edits the address, or logs in"},
	{"", "`cotter tree", "it only shows which keys or modules there are"},
	{"", "name it with `--for`", "the user chooses a value"},
	{"", "`cotter bundle create --platform", "the machine that has made the bundle does this, with its other flags"},
	{"lock_conflict", "Then run", "the user edits the file first"},
	{"file_read", "--allow-file-reads", "the file does not exist"},
	{"tree_not_installed", "`cotter install`", "another call has an error of its own"},
	{"tree_not_installed", "--allow-file-reads", "the file does not exist"},
	{"locked_provider", "`cotter install`", "the servers have no version that the constraint allows"},
	{"locked_other_flags", "--var net=VALUE", "the user writes the value"},
	{"several_volume", "`cotter install --chdir envs/d`", "the servers have no version that the constraint allows"},
}

func (r *remedies) checkExceptions() {
	r.t.Helper()
	for i, row := range notFollowed {
		if _, used := r.exempt.Load(i); !used {
			r.t.Errorf("no output needs the exception %q, because %s", row.remedy, row.reason)
		}
	}
}

// follow does what each remedy of a command that has failed says, on a copy of the script's directory: the advised
// command succeeds, and the one that failed does not fail for the same reason any more. With advised flags, it succeeds.
func follow(ts *testscript.TestScript, args []string, end workerEnd) {
	r, _ := ts.Value(remediesKey{}).(*remedies)
	if r == nil || end.Status != exitFailure {
		return
	}
	for line := range strings.Lines(string(end.Stderr)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Error:") || strings.HasPrefix(line, "Warning:") {
			continue
		}
		command, flags := advisedCommand.FindStringSubmatch(line), advisedFlags.FindStringSubmatch(line)
		if command == nil && flags == nil {
			continue
		}
		inCopy(ts, func() {
			run := func(args []string) string {
				if end := runWarm(ts, args); end.Status != 0 {
					return fmt.Sprintf("cotter %s: status %d\n%s", strings.Join(args, " "), end.Status, end.Out)
				}
				return ""
			}
			failure := ""
			switch {
			case command != nil:
				inCI := ts.Getenv("CI")
				if strings.Contains(line, "on your machine") {
					ts.Setenv("CI", "")
				}
				failure = run(words(command[1]))
				if ts.Setenv("CI", inCI); failure == "" {
					again, _, _ := strings.Cut(line, " Do the same for ") // the other projects are left
					if failure = run(args); !strings.Contains(failure, again) {
						failure = ""
					}
				}
			case strings.Contains(line, "without `--"):
				failure = run(slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == flags[1] }))
			default:
				failure = run(append(slices.Clone(args), words(flags[1])...))
			}
			script := strings.TrimPrefix(filepath.Base(ts.Getenv("WORK")), "script-")
			isExempt := false
			for i, row := range notFollowed {
				if failure != "" && (row.script == "" || row.script == script) && strings.Contains(line, row.remedy) {
					isExempt = true
					r.exempt.Store(i, true)
				}
			}
			if failure != "" && !isExempt {
				r.t.Errorf("%s: cotter %s: %s\n%s", script, strings.Join(args, " "), line, failure)
			}
		})
	}
}

func words(line string) []string { return strings.Fields(strings.ReplaceAll(line, "'", "")) }

// inCopy calls do with a copy of the script's directory in its place.
func inCopy(ts *testscript.TestScript, do func()) {
	work := ts.Getenv("WORK")
	kept := filepath.Clean(work) + ".kept"
	ts.Check(os.Rename(work, kept))
	ts.Check(copyTree(work, kept))
	do()
	ts.Check(os.RemoveAll(work))
	ts.Check(os.Rename(kept, work))
}
