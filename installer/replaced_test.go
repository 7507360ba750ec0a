package installer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

const (
	byDirectory = `replace "MODTEST_HOST/acme/net/aws" { source = "./fork" }`
	byModule    = `replace "MODTEST_HOST/acme/net/aws" {
  source  = "MODTEST_HOST/acme/sub/aws"
  version = "0.1.0"
}`
)

// constraint replaces a text in the root module.
func constraint(from, to string) func(t *testing.T, p *project) {
	return func(t *testing.T, p *project) {
		t.Helper()
		p.write(t, "main.tf", strings.Replace(p.file("main.tf"), from, to, 1))
	}
}

// A call whose source is no longer replaced gets the version that it had before, whatever replaced it, and as
// any locked version.
func TestReplacementUndone(t *testing.T) {
	t.Parallel()
	const was, newest = "1.0.0", "1.1.0"

	type step func(t *testing.T, p *project)
	install := func(change func(*request)) step {
		return func(t *testing.T, p *project) {
			t.Helper()
			req := p.request("")
			change(&req)
			p.mustInstall(t, req)
		}
	}
	by := func(settings string) step {
		return func(t *testing.T, p *project) {
			t.Helper()
			p.write(t, "cotter.hcl", settings)
			p.mustInstall(t, p.request(""))
		}
	}
	loseEntries := func(t *testing.T, p *project) { p.write(t, ".terraform.lock.hcl", asStock) }
	locked := install(func(r *request) { r.Locked = true })
	for name, test := range map[string]struct {
		steps []step
		undo  func(*request)
		want  string
	}{
		"a module":               {steps: []step{by(byModule)}, want: was},
		"a directory":            {steps: []step{by(byDirectory)}, want: was},
		"twice":                  {steps: []step{by(byModule), by(byDirectory), by(byModule)}, want: was},
		"unchanged runs":         {steps: []step{by(byModule), by(byModule), locked, by(byDirectory), locked}, want: was},
		"updated while replaced": {steps: []step{by(byModule), install(func(r *request) { r.Update.All = true })}, want: was},
		"lost entries":           {steps: []step{by(byModule), loseEntries}, want: was},
		"lost and restored":      {steps: []step{by(byModule), loseEntries, by(byModule), locked}, want: was},
		"a lost directory":       {steps: []step{by(byDirectory), loseEntries}, want: was},
		"lost when replaced":     {steps: []step{loseEntries, by(byDirectory)}, want: was},
		"a directory restored":   {steps: []step{by(byDirectory), loseEntries, by(byDirectory), locked}, want: was},
		"other constraint":       {steps: []step{by(byModule), constraint(`"~> 1.0"`, `">= 1.1"`), by(byModule)}, want: newest},
		"updated when undone":    {steps: []step{by(byModule)}, undo: func(r *request) { r.Update.All = true }, want: newest},
		"another source meanwhile": {
			steps: []step{by(byModule), constraint("acme/net/aws", "acme/sub/aws"), constraint(`"~> 1.0"`, `">= 0"`), by(""), constraint("acme/sub/aws", "acme/net/aws")},
			want:  newest,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := world(t, replaceWorld)
			constraint(`"~> 1.0"`, `"1.0.0"`)(t, p)
			p.mustInstall(t, p.request(""))
			constraint(`"1.0.0"`, `"~> 1.0"`)(t, p)
			p.mustInstall(t, p.request(""))
			before := lockedNet(t, p)
			for _, step := range test.steps {
				step(t, p)
			}
			p.write(t, "cotter.hcl", "")
			refused := p.request("")
			refused.Locked = true
			if err := p.mustFail(t, refused); !isLocked(err) {
				t.Errorf("with Locked: %v", err)
			}
			req := p.request("")
			if test.undo != nil {
				test.undo(&req)
			}
			result := p.mustInstall(t, req)
			for _, m := range result.Modules {
				if m.Path.String() == "net" && m.Version.String() != test.want {
					t.Errorf("version %s, want %s:\n%s", m.Version, test.want, p.events())
				}
			}
			if after := lockedNet(t, p); test.want == was && !after.Equal(before) {
				t.Errorf("the entry is %+v, was %+v", after, before)
			}
			locked(t, p)
		})
	}
}

// What counts again is an entry like any other: its hashes hold.
func TestReplacedEntryIsConfirmed(t *testing.T) {
	t.Parallel()
	p := world(t, replaceWorld)
	p.mustInstall(t, p.request(""))
	p.write(t, "cotter.hcl", byDirectory)
	p.mustInstall(t, p.request(""))
	text := p.file(".terraform.lock.hcl")
	lock, err := lockfile.Parse([]byte(text), "lock")
	testenv.Must(t, err)
	net, _ := lock.Directory("net")
	p.write(t, ".terraform.lock.hcl", strings.ReplaceAll(text, string(net.Replaced.Hash("h1")), "h1:"+strings.Repeat("A", 43)+"="))
	p.write(t, "cotter.hcl", "")
	var mismatch *installer.HashMismatchError
	if err := p.mustFail(t, p.request("")); !errors.As(err, &mismatch) || mismatch.Path.String() != "net" {
		t.Errorf("Install: %v", err)
	}
}

func lockedNet(t *testing.T, p *project) lockfile.Module {
	t.Helper()
	lock, err := lockfile.Parse([]byte(p.file(".terraform.lock.hcl")), "lock")
	testenv.Must(t, err)
	entry, _ := lock.Module("net")
	return entry
}

func isLocked(err error) bool {
	var locked *installer.LockedError
	return errors.As(err, &locked)
}
