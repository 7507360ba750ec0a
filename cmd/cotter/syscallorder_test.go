//go:build linux

package main

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSyscallOrder records the system calls of an installation and checks the order that
// makes it safe after a power cut, on any file system. Staged files must be durable before
// the journal, and everything that will be renamed must be durable before the first
// directory of a module is renamed. Meanwhile, stock tools must not see a manifest.
func TestSyscallOrder(t *testing.T) {
	t.Parallel()
	for name, upgrade := range map[string]bool{"first installation": false, "upgrade": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needCommands(t, "strace")
			p := newCutProject(t, filepath.Join(t.TempDir(), "project"))
			p.prepare(t, upgrade)
			lines := trace(t, p.command("install"), nil)
			r := newRecording(parseTrace(lines, p.project), p.project)
			r.checkJournal(t)
			r.checkTemporaryFiles(t)
			r.checkManifest(t, upgrade)
		})
	}
}

// These are paths in a project.
const (
	cotterDir  = modules + ".cotter/"
	stageDir   = cotterDir + "stage/"
	manifestAt = modules + "modules.json"
)

// recording is the list of file operations of an installation, with paths relative to the
// project.
type recording struct {
	all     []systemCall
	journal *systemCall   // the rename that creates the journal
	places  []*systemCall // the renames of module directories, old and new
}

func newRecording(calls []systemCall, dir string) *recording {
	r := &recording{}
	for _, c := range calls {
		for i, name := range c.paths {
			if rel, err := filepath.Rel(dir, name); err == nil {
				c.paths[i] = rel
			}
		}
		r.all = append(r.all, c)
	}
	for i := range r.all {
		switch c := &r.all[i]; {
		case !strings.HasPrefix(c.name, "rename"):
		case strings.HasPrefix(c.target(), cotterDir+"journal"):
			r.journal = c
		case isModuleDir(c.source()), isModuleDir(c.target()):
			r.places = append(r.places, c)
		}
	}
	return r
}

// source and target return the paths of a rename.
func (c *systemCall) source() string { return c.paths[0] }
func (c *systemCall) target() string { return c.paths[len(c.paths)-1] }

// isModuleDir reports whether a path is the directory of a call.
func isModuleDir(name string) bool {
	key, ok := strings.CutPrefix(name, modules)
	return ok && !strings.HasPrefix(key, ".") && !strings.Contains(key, "/") && key != "modules.json"
}

// isWrite reports whether a call changes the content of a file. The file is the last path of
// the call; if there are two, the first is the source.
func (c *systemCall) isWrite() bool {
	switch c.name {
	case "write", "pwrite64", "writev", "copy_file_range", "sendfile", "ioctl", "ftruncate", "link", "linkat":
		return true
	}
	return false
}

// durable reports whether the changes of a file or directory before line from were made
// durable, by a call that began after that line and ended before line until.
func (r *recording) durable(name string, from, until int) bool {
	return slices.ContainsFunc(r.all, func(c systemCall) bool {
		if c.begin < from || c.end > until {
			return false
		}
		switch c.name {
		case "fsync", "fdatasync":
			return c.paths[0] == name
		case "syncfs":
			return !strings.HasPrefix(c.paths[0], "..") // of a file in the project
		}
		return c.name == "sync"
	})
}

// renameTo returns the last rename whose target meets a condition, or nil.
func (r *recording) renameTo(is func(string) bool) *systemCall {
	for i := range slices.Backward(r.all) {
		if c := &r.all[i]; strings.HasPrefix(c.name, "rename") && is(c.target()) {
			return c
		}
	}
	return nil
}

// checkJournal checks that staged files are durable before the journal exists, and that the
// journal is durable before the changes that it describes are made.
func (r *recording) checkJournal(t *testing.T) {
	t.Helper()
	if r.journal == nil || len(r.places) == 0 {
		t.Fatalf("the journal is renamed %v, and %d directories of modules", r.journal, len(r.places))
	}
	written := make(map[string]int) // the line of the last write to each staged file
	for i := range r.all {
		c := &r.all[i]
		if c.isWrite() && strings.HasPrefix(c.target(), stageDir) {
			written[c.target()] = c.end
		}
	}
	if len(written) == 0 {
		t.Error("no staged file is written")
	}
	for name, end := range written {
		if !r.durable(name, end, r.journal.begin) {
			t.Errorf("%s is not made durable between its last write and the journal's rename", name)
		}
	}
	r.checkSource(t, r.journal, r.journal.begin)
	if dir := filepath.Dir(r.journal.target()); !r.durable(dir, r.journal.end, r.places[0].begin) {
		t.Errorf("%s is not made durable between the journal's rename and the first one of a module's directory", dir)
	}
}

// checkSource checks that the source of a rename was made durable after it was written, and
// before a line.
func (r *recording) checkSource(t *testing.T, rename *systemCall, until int) {
	t.Helper()
	end := -1
	for i := range r.all[:slices.IndexFunc(r.all, func(c systemCall) bool { return c.begin == rename.begin })] {
		if c := &r.all[i]; c.isWrite() && c.target() == rename.source() {
			end = c.end
		}
	}
	switch {
	case end < 0:
		t.Errorf("%s is renamed to %s and was never written", rename.source(), rename.target())
	case !r.durable(rename.source(), end, until):
		t.Errorf("%s, which becomes %s, is not durable in time: before line %d of the recording", rename.source(), rename.target(), until)
	}
}

// checkTemporaryFiles checks that the new lock, its copy and the new manifest are durable
// before the first directory of a module is renamed, so that no later step needs disk space.
func (r *recording) checkTemporaryFiles(t *testing.T) {
	t.Helper()
	for what, is := range map[string]func(string) bool{
		"lock":             func(name string) bool { return name == lockFile },
		"copy of the lock": func(name string) bool { return filepath.Dir(name)+"/" == cotterDir && strings.Contains(name, "lock") },
		"manifest":         func(name string) bool { return name == manifestAt },
	} {
		rename := r.renameTo(is)
		if rename == nil {
			t.Errorf("no rename makes the %s", what)
			continue
		}
		r.checkSource(t, rename, r.places[0].begin)
		if dir := filepath.Dir(rename.target()); !r.durable(dir, rename.end, math.MaxInt) {
			t.Errorf("%s is not made durable after the rename that makes the %s", dir, what)
		}
	}
}

// checkManifest checks that the manifest is durably removed before the first directory of a
// module is renamed, and put back after the lock and all directories.
func (r *recording) checkManifest(t *testing.T, upgrade bool) {
	t.Helper()
	first, last := r.places[0], r.places[len(r.places)-1]
	lock := r.renameTo(func(name string) bool { return name == lockFile })
	manifest := r.renameTo(func(name string) bool { return name == manifestAt })
	if lock == nil || manifest == nil {
		t.Fatal("the lock or the manifest is not renamed")
	}
	if lock.end > manifest.begin {
		t.Error("the manifest is renamed before the lock is")
	}
	if last.end > lock.begin {
		t.Errorf("the lock is renamed before %s is", last.source())
	}
	if !upgrade {
		return
	}
	away := slices.IndexFunc(r.all, func(c systemCall) bool {
		return (strings.HasPrefix(c.name, "rename") || strings.HasPrefix(c.name, "unlink")) && c.paths[0] == manifestAt
	})
	switch {
	case away < 0 || r.all[away].end > first.begin:
		t.Errorf("the old manifest is there when %s is renamed", first.source())
	case !r.durable(filepath.Clean(modules), r.all[away].end, first.begin):
		t.Errorf("that the old manifest is away is not durable when %s is renamed", first.source())
	}
}
