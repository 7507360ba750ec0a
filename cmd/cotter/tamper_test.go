package main

import (
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

	"github.com/cotterpin/cotter/internal/testenv"
)

// tampering is a change of something that an installation relies on, and how the commands
// must handle it.
type tampering struct {
	name string
	do   step
	want outcomes
	// cache says that the cache is changed. Commands that are to change the project then get a copy
	// of it, because they repair the cache too.
	cache bool
}

// outcomes are the expected results of the commands. Each command runs on the tampered
// project, without the changes of earlier commands. Commands whose outcome is nil are not
// run, with two exceptions: install defaults to locked, and remote defaults to verify if
// that has status 0.
type outcomes struct {
	locked  *outcome // install --locked, in place
	empty   *outcome // install --locked with an empty cache
	fresh   *outcome // install --locked without .terraform, as in a new checkout
	offline *outcome // install --locked --offline, without .terraform
	cold    *outcome // install --locked without .terraform and with an empty cache
	install *outcome // install, in place
	anew    *outcome // install without .terraform and with an empty cache
	verify  *outcome // verify
	remote  *outcome // verify --remote
}

type outcome struct {
	status int
	leaves state
	says   []string // texts that must be in the output
}

// state is the state in which a command leaves the project.
type state int

const (
	asFound state = iota // unchanged: the tampered project
	asGood               // the project before the tampering
	changed              // any other state
)

// refused returns a failure that writes nothing.
func refused(says ...string) *outcome { return &outcome{1, asFound, says} }

// healed returns a success that restores the project as it was before the tampering.
func healed(says ...string) *outcome { return &outcome{0, asGood, says} }

// accepted returns a success that writes nothing.
func accepted(says ...string) *outcome { return &outcome{0, asFound, says} }

// rewritten returns a success that leaves the project in another state.
func rewritten(says ...string) *outcome { return &outcome{0, changed, says} }

// found returns a result of verify, which never writes.
func found(says ...string) *outcome { return &outcome{1, asFound, says} }

// matching is the outcome of a verify that finds no fault. It may list other files.
func matching(says ...string) *outcome { return &outcome{0, asFound, says} }

type tamperRun struct {
	name  string
	args  string
	want  *outcome
	bare  bool // without .terraform
	empty bool // with an empty cache
}

func (o outcomes) commands() []tamperRun {
	if o.install == nil {
		o.install = o.locked
	}
	if o.remote == nil && o.verify.status == 0 {
		o.remote = o.verify
	}
	return []tamperRun{
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

// scene is a copy of a site for tampering. The project stays at the same path, because the
// files that runs keep there are valid only for that path.
type scene struct {
	*site
	dir, cache string
	saved      string // a copy of the tampered project
}

// testTampering runs all commands on each row. Rows must not change the world; tests that
// change it use a site for each row.
func testTampering(t *testing.T, s *site, rows []tampering) {
	t.Helper()
	for _, row := range testenv.Sample(rows) {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s.tamper(t, row)
		})
	}
}

// tamper runs all commands on one row.
func (s *site) tamper(t *testing.T, row tampering) {
	tampered := s.copy(t)
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
		// check has verified that such a command changes nothing.
		untouched = c.want.leaves == asFound && !c.bare
	}
}

// copy returns a scene with copies of the project and of the cache. A run that changes nothing but
// the sealed copy of the lock makes the project belong to this user, as if it had been installed
// there. No command of a scene runs in the directories of the site, from which rows that run at the
// same time make their copies.
func (s *site) copy(t *testing.T) *scene {
	t.Helper()
	scene := &scene{site: s, dir: filepath.Join(t.TempDir(), "project"), cache: s.cache}
	if err := copyTree(scene.dir, s.dir, false); err != nil {
		t.Fatal(err)
	}
	scene.copyCache(t)
	if status, out := s.run(scene.dir, scene.cache, "install", "--offline"); status != 0 {
		t.Fatalf("the copied project: status %d\n%s", status, out)
	}
	return scene
}

// save saves a copy of the project.
func (s *scene) save(t *testing.T) {
	t.Helper()
	s.saved = filepath.Join(t.TempDir(), "saved")
	if err := copyTree(s.saved, s.dir, false); err != nil {
		t.Fatal(err)
	}
}

// reset restores the saved project, without the installed modules if bare is set.
func (s *scene) reset(t *testing.T, bare bool) {
	t.Helper()
	remove(t, s.dir)
	if err := copyTree(s.dir, s.saved, bare); err != nil {
		t.Fatal(err)
	}
}

func (s *scene) copyCache(t *testing.T) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	if err := copyTree(dir, s.cache, false); err != nil {
		t.Fatal(err)
	}
	s.cache = dir
}

// copyTree copies a directory, without the installed modules in it if bare is set.
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

func (s *scene) check(t *testing.T, c tamperRun) {
	t.Helper()
	before := picture(t, s.dir)
	status, out := s.run(s.dir, s.cache, strings.Fields(c.args)...)
	out = s.normalize(out, s.dir)
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
		// A lock that was accepted becomes the lock that restore uses.
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
	// dull matches the lines about modules without a problem.
	dull     = regexp.MustCompile(`(?m)^- .* in .*\n  Verified.*\n|^- .*: Verified.*\n`)
	anyShort = regexp.MustCompile(`\b[0-9a-f]{12}\b`)
	// sealedHeader matches the lines of a sealed copy before the lock: the seal, which depends on
	// the project's path, and the records of the evidence with their times.
	sealedHeader = regexp.MustCompile(`\A.*\n# confirmed \d+\n(# [0-9a-f]{64} \S+\n)*`)
)

// normalize replaces the parts that differ from run to run.
func (s *site) normalize(out, dir string) string {
	out = strings.NewReplacer(string(s.world.Host()), "HOST", dir, "DIR").Replace(out)
	out = anyHash.ReplaceAllString(out, "$1:HASH")
	out = anyDigest.ReplaceAllString(out, "DIGEST")
	out = anyCommit.ReplaceAllString(out, "COMMIT")
	return anyShort.ReplaceAllString(out, "SHORT")
}

// picture returns the mode and the content of every relevant file in a project, by its path.
// Files that the command keeps only during a run are left out.
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
			return nil // an attempt may leave empty directories
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
			if rel == sealed {
				content = sealedHeader.ReplaceAllString(content, "")
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

// differing lists the files that differ between two pictures.
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

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
}
