package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tampering is a change of something that an installation relies on, and how the commands
// must handle it.
type tampering struct {
	name string
	do   step
	want outcomes
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

// testTampering runs all commands on each row. Rows must not change the world; tests that
// change it use a site for each row.
func testTampering(t *testing.T, s *site, rows []tampering) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) { s.tamper(t, row) })
	}
}

// tamper runs all commands on one row.
func (s *site) tamper(t *testing.T, row tampering) {
	s.restore(t, "installed")
	row.do(t, s)
	s.save(t, "tampered")
	for _, c := range row.want.commands() {
		if c.want == nil {
			continue
		}
		var without []string
		if c.bare {
			without = append(without, filepath.Join(s.project, ".terraform"))
		}
		if c.empty {
			without = append(without, s.cache)
		}
		s.restore(t, "tampered", without...)
		s.check(t, c)
	}
}

func (s *site) check(t *testing.T, c tamperRun) {
	t.Helper()
	before := picture(t, s.project)
	end := s.run(c.args)
	out := s.normalize(end.out)
	shown := dull.ReplaceAllString(out, "")
	if end.status != c.want.status {
		t.Errorf("%s: status %d, want %d\n%s", c.name, end.status, c.want.status, shown)
		return
	}
	for _, text := range c.want.says {
		if !strings.Contains(out, text) {
			t.Errorf("%s does not say %q:\n%s", c.name, text, shown)
		}
	}
	after := picture(t, s.project)
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
)

// normalize replaces the parts that differ from run to run.
func (s *site) normalize(out string) string {
	out = strings.NewReplacer(string(s.world.Host()), "HOST", s.project, "DIR").Replace(out)
	out = anyHash.ReplaceAllString(out, "$1:HASH")
	out = anyDigest.ReplaceAllString(out, "DIGEST")
	out = anyCommit.ReplaceAllString(out, "COMMIT")
	return anyShort.ReplaceAllString(out, "SHORT")
}
