package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/userkey"
)

// tampering is one way to change what an installation relies on, and what the
// commands have to make of it.
type tampering struct {
	name string
	do   step
	want outcomes
	// cache says that it tampers with the cache, which is shared otherwise.
	cache bool
}

// outcomes are what the commands do with the tampered project: each with what
// was tampered with, none with what another one wrote. Those that are not given
// are not run, but for: install is as locked, and remote is as verify, where that
// finds nothing.
type outcomes struct {
	locked  *outcome // install --locked, in place
	empty   *outcome // the same with an empty cache
	fresh   *outcome // the same without .terraform, as in a new checkout
	offline *outcome // install --locked --offline, without .terraform
	cold    *outcome // the same without .terraform and with an empty cache
	install *outcome // install, in place
	anew    *outcome // the same without .terraform and with an empty cache
	verify  *outcome // verify
	remote  *outcome // verify --remote
}

// outcome is how a command ends.
type outcome struct {
	status int
	leaves state
	says   []string // is printed, all of it
}

// state is what a command leaves behind.
type state int

const (
	asFound state = iota // the project as it was tampered with: nothing was written
	asGood               // the project as it was before that
	changed              // another one
)

// refused is a failure that writes nothing.
func refused(says ...string) *outcome { return &outcome{1, asFound, says} }

// healed is a success that leaves the project as it was before the tampering.
func healed(says ...string) *outcome { return &outcome{0, asGood, says} }

// accepted is a success that has nothing to write.
func accepted(says ...string) *outcome { return &outcome{0, asFound, says} }

// rewritten is a success that leaves another project behind.
func rewritten(says ...string) *outcome { return &outcome{0, changed, says} }

// found is what verify ends with; it never writes.
func found(status int, says ...string) *outcome { return &outcome{status, asFound, says} }

// command is one of the commands of outcomes.
type command struct {
	name  string
	args  string
	want  *outcome
	bare  bool // without .terraform
	empty bool // with an empty cache
}

func (o outcomes) commands() []command {
	if o.install == nil {
		o.install = o.locked
	}
	if o.remote == nil && o.verify.status == 0 {
		o.remote = o.verify
	}
	return []command{
		{name: "verify", args: "verify", want: o.verify},
		{name: "locked", args: "install --locked", want: o.locked},
		{name: "locked, empty cache", args: "install --locked", want: o.empty, empty: true},
		{name: "locked, fresh checkout", args: "install --locked", want: o.fresh, bare: true},
		{name: "locked, fresh checkout, offline", args: "install --locked --offline", want: o.offline, bare: true},
		{name: "locked, fresh checkout, empty cache", args: "install --locked", want: o.cold, bare: true, empty: true},
		{name: "install", args: "install", want: o.install},
		{name: "install, fresh checkout, empty cache", args: "install", want: o.anew, bare: true, empty: true},
		{name: "verify --remote", args: "verify --remote", want: o.remote},
	}
}

// scene is one copy of a site, to tamper with. The project stays at its path:
// what runs leave there counts for that path only.
type scene struct {
	*site
	dir, cache string
	saved      string // a copy of the tampered project
}

// testTampering runs all commands on what the rows describe, which is not the
// world: rows that change that have a site each.
func testTampering(t *testing.T, s *site, rows []tampering) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s.tamper(t, row)
		})
	}
}

// tamper runs all commands on one row.
func (s *site) tamper(t *testing.T, row tampering) {
	tampered := s.copy(t)
	if row.cache {
		tampered.copyCache(t)
	}
	row.do(t, tampered)
	tampered.save(t)
	untouched := true
	for _, c := range row.want.commands() {
		if c.want == nil {
			continue
		}
		if !untouched || c.bare {
			tampered.reset(t, c.bare)
		}
		at := *tampered
		if row.cache && !c.empty && c.want.leaves != asFound {
			at.copyCache(t)
		}
		if c.empty {
			at.cache = t.TempDir()
		}
		at.check(t, c)
		// A command that leaves all as it is was checked to do so.
		untouched = c.want.leaves == asFound && !c.bare
	}
}

// copy is a scene with a copy of the project that is this user's own, as if it had
// been installed there. The cache may be that of others unless somebody tampers
// with it: nothing in it depends on who uses it.
func (s *site) copy(t *testing.T) *scene {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	if err := copyTree(dir, s.dir, false); err != nil {
		t.Fatal(err)
	}
	if err := s.own(dir); err != nil {
		t.Fatal(err)
	}
	return &scene{site: s, dir: dir, cache: s.cache}
}

// own does what a run with nothing to do does in a copy of the project: it seals
// the copy of the lock for this path.
func (s *site) own(dir string) error {
	key, err := userkey.Read(filepath.Join(s.home, ".local/state/cotter"))
	if err != nil {
		return err
	}
	location := project.Location{Dir: dir, DataDir: filepath.Join(dir, ".terraform"), LockFile: lockFile}
	p, err := project.Open(context.Background(), location, key, nil)
	if err != nil {
		return err
	}
	lock, err := p.Lock()
	if err == nil {
		var manifest []byte
		if manifest, err = p.Manifest(); err == nil {
			err = p.Commit(project.Change{OldLock: lock, NewLock: lock, Manifest: manifest})
		}
	}
	return errors.Join(err, p.Close())
}

// save keeps a copy of the project.
func (s *scene) save(t *testing.T) {
	t.Helper()
	s.saved = filepath.Join(t.TempDir(), "saved")
	if err := copyTree(s.saved, s.dir, false); err != nil {
		t.Fatal(err)
	}
}

// reset makes the project what it was when it was saved, with or without the
// installed modules.
func (s *scene) reset(t *testing.T, bare bool) {
	t.Helper()
	remove(t, s.dir)
	if err := copyTree(s.dir, s.saved, bare); err != nil {
		t.Fatal(err)
	}
}

// copyCache gives the scene a cache of its own.
func (s *scene) copyCache(t *testing.T) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	if err := copyTree(dir, s.cache, false); err != nil {
		t.Fatal(err)
	}
	s.cache = dir
}

// copyTree copies a directory, with or without the installed modules in it.
func copyTree(dst, src string, bare bool) error {
	return filepath.WalkDir(src, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(src, name)
		to := filepath.Join(dst, rel)
		switch info, err := d.Info(); {
		case err != nil:
			return err
		case d.IsDir() && bare && rel == ".terraform":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, info.Mode())
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			return errors.Join(err, os.Symlink(target, to))
		default:
			data, err := os.ReadFile(name)
			return errors.Join(err, os.WriteFile(to, data, info.Mode()))
		}
	})
}

// check runs one command.
func (s *scene) check(t *testing.T, c command) {
	t.Helper()
	before := picture(t, s.dir)
	status, out := s.run(s.dir, s.cache, strings.Fields(c.args)...)
	out = s.normalise(out, s.dir)
	shown := dull.ReplaceAllString(out, "")
	if status != c.want.status {
		t.Errorf("%s: status %d, want %d\n%s", c.name, status, c.want.status, shown)
		return
	}
	for _, text := range c.want.says {
		if !strings.Contains(out, text) {
			t.Errorf("%s does not say %q:\n%s", c.name, text, shown)
		}
	}
	after := picture(t, s.dir)
	if c.want.status == 0 && c.want.leaves == asFound {
		// A lock that was accepted is the one to restore from then on.
		const former = modules + ".cotter/lock.hcl"
		delete(before, former)
		delete(after, former)
	}
	switch c.want.leaves {
	case asFound:
		if diff := differing(before, after); diff != "" {
			t.Errorf("%s wrote something (-before +after):\n%s\n%s", c.name, diff, shown)
		}
	case asGood:
		if diff := differing(s.good, after); diff != "" {
			t.Errorf("%s did not put it right (-good +after):\n%s\n%s", c.name, diff, shown)
		}
	case changed:
		if differing(before, after) == "" {
			t.Errorf("%s wrote nothing:\n%s", c.name, shown)
		}
	}
}

var (
	anyHash   = regexp.MustCompile(`\b(h1|t1|zh):[A-Za-z0-9+/=]+`)
	anyCommit = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	anyDigest = regexp.MustCompile(`\bsha256:[0-9a-f]{64}\b`)
	// dull is what is said of each module that is as it should be.
	dull     = regexp.MustCompile(`(?m)^- .* in .*\n  Verified.*\n|^- .*: Verified.*\n`)
	anyShort = regexp.MustCompile(`\b[0-9a-f]{12}\b`)
)

// normalise replaces what differs from run to run.
func (s *site) normalise(out, dir string) string {
	out = strings.NewReplacer(string(s.world.Host()), "HOST", dir, "DIR").Replace(out)
	out = anyHash.ReplaceAllString(out, "$1:HASH")
	out = anyDigest.ReplaceAllString(out, "DIGEST")
	out = anyCommit.ReplaceAllString(out, "COMMIT")
	return anyShort.ReplaceAllString(out, "SHORT")
}

// picture is everything in a project that matters: the mode and the content of
// every file, by its path. What the command keeps for the time of a run is no
// part of it.
func picture(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		switch rel {
		case ".terraform/modules/.cotter/lock":
			return nil
		case ".terraform", ".terraform/modules", ".terraform/modules/.cotter", ".terraform/modules/.cotter/tree", ".terraform/modules/.cotter/sums":
			return nil // an attempt may leave empty ones
		case ".terraform/modules/.cotter/stage", ".terraform/modules/.cotter/retired":
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		const sealed = modules + ".cotter/lock.hcl"
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			content, err = os.Readlink(name)
		case d.Type().IsRegular():
			var data []byte
			data, err = os.ReadFile(name)
			content = string(data)
			if rel == sealed { // its first line depends on the project's path
				_, content, _ = strings.Cut(content, "\n")
			}
		}
		files[rel] = fmt.Sprintf("%v %s", info.Mode(), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// differing names the files that are not the same in two pictures.
func differing(before, after map[string]string) string {
	var list []string
	for name, content := range before {
		if now, ok := after[name]; !ok {
			list = append(list, "- "+name)
		} else if now != content {
			list = append(list, name+":\n"+cmp.Diff(content, now))
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			list = append(list, "+ "+name)
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// remove removes a tree, which can be read-only as packages of providers are.
func remove(t *testing.T, name string) {
	t.Helper()
	makeRemovable(name)
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
}

// makeRemovable makes the directories of a tree writable.
func makeRemovable(name string) {
	_ = filepath.WalkDir(name, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(name, 0o755)
		}
		return nil // removing it fails
	})
}
