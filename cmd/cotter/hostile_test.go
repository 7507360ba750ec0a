//go:build linux || darwin

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// hostileMemory limits the memory of every run.
const hostileMemory = 400 << 20

// TestHostileProject replaces each file on which Cotter relies with each of replacements,
// and runs the command. The table hostileTable has the expected ends. In every case,
//
//   - the command ends, and uses little memory,
//   - nothing is written outside the project's own files, the cache and the
//     state directory, not even through links, and nothing is left behind in
//     the temporary directory,
//   - the lock is not changed by commands that may not change it,
//   - after a success the installed code and the lock match the origins.
func TestHostileProject(t *testing.T) {
	t.Parallel()
	rows, err := parseHostileTable(hostileTable)
	testenv.Must(t, err)
	// Paths matter to a project, so each site is reused at its own path.
	sites := make(chan *hostileSite, min(runtime.GOMAXPROCS(0), 4))
	for range cap(sites) {
		sites <- newHostileSite(t)
	}
	var runs atomic.Int64
	t.Cleanup(func() { t.Logf("%d runs", runs.Load()) })
	for _, row := range testenv.Sample(rows, func(r hostileRow) string { return r.section + firstWord(r.command) }) {
		t.Run(fmt.Sprintf("%s/%s, %s", row.command, row.state, strings.ReplaceAll(row.file, "/", "∕")), func(t *testing.T) {
			t.Parallel()
			s := <-sites
			defer func() { sites <- s }()
			for i, end := range row.ends {
				if !end.run {
					continue
				}
				t.Run(end.column, func(t *testing.T) {
					s.reset(t)
					if strings.HasPrefix(row.file, "@cache/git/") {
						s.restoreGit(t)
					}
					hostileStates[row.state](t, s)
					targets := s.replace(t, row.file, replacements[i])
					s.check(t, row, end, targets)
					runs.Add(1)
				})
			}
		})
	}
}

// check runs the command of a row and compares its result with the expected end.
func (s *hostileSite) check(t *testing.T, row hostileRow, want hostileEnd, targets []hostileTarget) {
	t.Helper()
	before, outside := s.pictureProject(t), s.pictureOutside(t)
	lock := before[lockFile]
	var env []string
	if strings.HasPrefix(row.file, "@cache/git/") {
		env = installedGit
	}
	end := s.run(row.command, env...)
	s.checkInvariants(t, row, end, outside, lock)
	now := s.pictureProject(t)
	switch {
	case end.hung:
	case end.status != 0 && !want.no:
		t.Errorf("status %d, want %s", end.status, want.written)
	case end.status == 0 && !want.ok && !want.asks:
		t.Errorf("status 0, want %s", want.written)
	case end.status != 0:
		s.checkRefusal(t, row, want, end, targets)
	case want.asks && !want.ok:
		for _, origin := range s.unasked() {
			t.Errorf("success without a question to %s", origin)
		}
	}
	if want.warns && end.status == 0 && !s.names(row, want, targets, end.out) {
		t.Errorf("no warning names %s", row.file)
	}
	if end.status != 0 || !strings.HasPrefix(row.command, "install") && row.command != "lock --offline" {
		if diff := differing(before, now); diff != "" {
			t.Errorf("something was changed (-before +after):\n%s", diff)
		}
	}
	if end.status == 0 && slices.Contains([]string{"install", "install --locked", "verify", "lock --offline"}, row.command) {
		if diff := differing(s.good, s.withoutPlanted(now, targets)); diff != "" {
			t.Errorf("success with other files than those of the origins (-good +after):\n%s", diff)
		}
	}
	if t.Failed() {
		t.Logf("%s, with %s %s: status %d\n%s", row.command, row.file, want.column, end.status, strings.ReplaceAll(end.out, s.base, "BASE"))
	}
}

// checkInvariants checks the conditions that hold for every run.
func (s *hostileSite) checkInvariants(t *testing.T, row hostileRow, end ending, outside map[string]string, lock string) {
	t.Helper()
	if end.hung {
		t.Errorf("the command hangs")
	}
	if end.status > 1 && row.command != "verify" || end.status < 0 && !end.hung {
		t.Errorf("status %d, which is for other failures", end.status)
	}
	if strings.Contains(end.out, "goroutine ") {
		t.Errorf("the command panics")
	}
	if end.memory > hostileMemory {
		t.Errorf("the command uses %d MiB of memory", end.memory>>20)
	}
	if diff := differing(outside, s.pictureOutside(t)); diff != "" {
		t.Errorf("files of others were changed (-before +after):\n%s", diff)
	}
	if left, err := os.ReadDir(s.tmp); len(left) > 0 || err != nil {
		t.Errorf("left behind in the temporary directory: %v, %v", left, err)
	}
	if row.command == "install" || row.command == "lock --offline" {
		return
	}
	if now := s.pictureProject(t)[lockFile]; now != lock {
		t.Errorf("%s changed the lock:\n%s", row.command, now)
	}
}

// checkRefusal checks that the message names the replaced file and says what is wrong with
// it.
func (s *hostileSite) checkRefusal(t *testing.T, row hostileRow, want hostileEnd, end ending, targets []hostileTarget) {
	t.Helper()
	if !s.names(row, want, targets, end.out) {
		t.Errorf("the message does not name %s", row.file)
	}
	if what := irregular[want.column]; row.file == lockFile && what != nil && !slices.ContainsFunc(what, func(word string) bool { return strings.Contains(strings.ToLower(end.out), word) }) {
		t.Errorf("the message does not say that %s is %q", row.file, what[0])
	}
}

// irregular has words for each replacement of the lock. A message about the lock must
// contain one of them.
var irregular = map[string][]string{
	"huge":     {"32 mib", "too large", "larger"},
	"fifo":     {"named pipe", "fifo"},
	"inside":   {"symbolic link", "symlink", "without a hash the module"}, // runs that write no lock follow it
	"outside":  {"symbolic link", "symlink"},
	"dangling": {"symbolic link", "symlink"},
	"dir":      {"directory"},
}

// names reports whether a text names what was replaced. For a missing file, the command that
// restores it is enough; for a file in a cached package, the package is.
func (s *hostileSite) names(row hostileRow, end hostileEnd, targets []hostileTarget, text string) bool {
	if row.file == "@cache/" && strings.HasPrefix(row.command, "install") {
		return strings.Contains(text, "COTTER_CACHE_DIR")
	}
	if !end.warns && (row.command == "verify" || row.command == "tree" || row.command == "lock --offline") && strings.Contains(text, "Run `cotter install`") {
		return true
	}
	if row.state == "edited" && strings.Contains(text, "main.tf") {
		return true
	}
	if row.command == "lock --offline" && strings.Contains(text, "no entries to restore") {
		return true
	}
	return slices.ContainsFunc(targets, func(target hostileTarget) bool {
		rel, _ := filepath.Rel(s.base, target.path)
		_, rel, _ = strings.Cut(rel, "/")
		rel = strings.TrimPrefix(rel, ".terraform/modules/")
		return strings.Contains(text, rel) || strings.HasPrefix(row.file, "@cache/tree/") && strings.Contains(text, strings.Split(rel, "/")[1])
	})
}

// unasked returns the origins that received no request.
func (s *hostileSite) unasked() []string {
	requests := s.world.Requests()
	return slices.DeleteFunc(slices.Clone(hostileOrigins), func(origin string) bool {
		for _, r := range requests {
			if strings.Contains(r.Path, origin) {
				return true
			}
		}
		return false
	})
}

// isBookkeeping reports whether Cotter may write a path in a project at any time. Such files
// are never code or evidence of what was installed.
func isBookkeeping(rel string) bool {
	name, ok := strings.CutPrefix(rel, ".terraform/modules/.cotter/")
	return ok && slices.Contains([]string{"lock", "stage", "trash", "retired", "journal", "journal.json", "lock.hcl", "sums"}, name)
}

func (s *hostileSite) pictureProject(t *testing.T) map[string]string {
	t.Helper()
	return picture(t, s.project, isBookkeeping)
}

// pictureOutside returns the files that no run may change.
func (s *hostileSite) pictureOutside(t *testing.T) map[string]string {
	t.Helper()
	found := picture(t, s.outside)
	for name, text := range picture(t, s.home) {
		found["home/"+name] = text
	}
	for name, text := range picture(t, s.project, func(rel string) bool { return rel == ".terraform" || rel == lockFile }) {
		found["project/"+name] = text
	}
	entries, err := os.ReadDir(s.base)
	testenv.Must(t, err)
	for _, entry := range entries {
		found[entry.Name()] = ""
	}
	delete(found, "cache") // a run may make it
	delete(found, "state")
	return found
}

// withoutPlanted leaves out files that do not belong to a project at all.
func (s *hostileSite) withoutPlanted(picture map[string]string, targets []hostileTarget) map[string]string {
	picture = maps.Clone(picture)
	for _, target := range targets {
		rel, _ := filepath.Rel(s.project, target.path)
		isPart := func(name string) bool { return name == rel || strings.HasPrefix(name, rel+"/") }
		if belongs := slices.ContainsFunc(slices.Collect(maps.Keys(s.good)), isPart); !belongs {
			maps.DeleteFunc(picture, func(name, _ string) bool { return isPart(name) })
		}
	}
	return picture
}
