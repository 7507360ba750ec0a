package installer_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/policy"
)

var reachableCommits = []*policy.Policy{{ReachableCommits: true}}

func refusesCommit(err error, call, commit string) bool {
	violation, ok := errors.AsType[*policy.Violation](err)
	module, isCall := errors.AsType[*installer.ModuleError](err)
	return ok && isCall && module.Path.String() == call && violation.Argument == "commits" && strings.Contains(violation.Reason, commit)
}

// proposed returns a project, a commit of its repository net.git that only a pull request has, and
// a commit that its branch has left.
func proposed(t *testing.T) (p *project, foreign, first string) {
	t.Helper()
	p = world(t, historyWorld+"-- git/wrap.git/v1.0.0/main.tf --\n# nothing\n")
	foreign, err := p.world.ProposeCommit("net.git", "refs/pull/1/head", evilFiles)
	testenv.Must(t, err)
	first, err = p.world.Commit("net.git", "v1.0.0")
	testenv.Must(t, err)
	testenv.Must(t, p.world.DeleteTag("net.git", "v1.0.0"))
	return p, foreign, first
}

const netRepository = "git::https://MODTEST_HOST/git/net.git"

// The policy commits = "reachable" refuses a commit that only a pull request has: in a new
// selection, for an entry that nothing has confirmed, and for one that was confirmed without it. The
// user's own exception for one call does not override the policy.
func TestReachableCommits(t *testing.T) {
	t.Parallel()
	modes := map[string]request{
		"install": {}, "lock": {InstallOptions: installer.InstallOptions{LockOnly: true}}, "locked": {InstallOptions: installer.InstallOptions{Locked: true}},
		"accepted": {InstallOptions: installer.InstallOptions{AcceptUnreachable: []addrs.Module{{"net"}}}},
	}
	p, foreign, first := proposed(t)
	check := func(when string, refused bool, run func(request) error) {
		t.Helper()
		for mode, req := range modes {
			if req.Policies = reachableCommits; req.Locked && when == "a new call" {
				continue
			}
			before := p.file(".terraform.lock.hcl")
			if err := run(req); refusesCommit(err, "net", foreign) != refused || !refused && err != nil {
				t.Errorf("%s, %s: %v, want refused %t", when, mode, err, refused)
			}
			if refused && p.file(".terraform.lock.hcl") != before {
				t.Errorf("%s, %s: the lock has changed", when, mode)
			}
		}
	}
	again := func(req request) error {
		req.Dir = p.dir
		_, err := p.installer().Install(t.Context(), req.Project, req.InstallOptions)
		return err
	}
	elsewhere := func(req request) error {
		_, err := p.onNewMachine(t, req)
		return err
	}
	p.call(t, netRepository+"?ref="+foreign)
	check("a new call", true, again)
	p.mustInstall(t, request{}) // without the policy
	check("confirmed before", true, again)
	check("locked", true, elsewhere)

	p.call(t, netRepository+"?ref="+first)
	p.mustInstall(t, request{Project: installer.Project{Policies: reachableCommits}})
	check("a commit of main", false, again)
	check("a commit of main, locked", false, elsewhere)
}

// What an abbreviation means can be a commit of a pull request too. A registry's answer and other
// refs are not meant.
func TestReachableCommitsOfAddresses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		source   string
		requests bool
	}{
		{netRepository + "?ref=FIRST", true},
		{netRepository + "?ref=SHORT", true},
		{netRepository + "?ref=main", false},
		{netRepository, false},
		{netRepository + "?version=~> 1.0", false},
		{"MODTEST_HOST/acme/net/aws", false},
	} {
		p, _, first := proposed(t)
		p.call(t, strings.NewReplacer("FIRST", first, "SHORT", first[:10]).Replace(test.source))
		p.mustInstall(t, request{})
		p.world.ResetRequests()
		p.mustInstall(t, request{Project: installer.Project{Policies: reachableCommits}})
		if asked := len(p.world.Requests()) > 0; asked != test.requests {
			t.Errorf("%s: asked for the history: %t", test.source, asked)
		}
	}
}

// The rule applies to calls in packages.
func TestReachableCommitsInPackage(t *testing.T) {
	t.Parallel()
	p, foreign, _ := proposed(t)
	inner := strings.ReplaceAll(netRepository, "MODTEST_HOST", string(p.world.Host())) + "?ref=" + foreign
	files := fstest.MapFS{"main.tf": {Data: []byte("module \"net\" {\n  source = \"" + inner + "\"\n}\n")}}
	testenv.Must(t, p.world.PublishTag("wrap.git", "v1.1.0", files))
	p.write(t, "main.tf", "module \"wrap\" {\n  source = \"git::https://MODTEST_HOST/git/wrap.git?ref=v1.1.0\"\n}\n")
	for range 2 {
		_, err := p.installer().Install(t.Context(), installer.Project{Dir: p.dir, Policies: reachableCommits}, installer.InstallOptions{})
		if !refusesCommit(err, "wrap.net", foreign) {
			t.Errorf("Install = %v", err)
		}
		p.mustInstall(t, request{})
	}
}

// The history is searched once: the project and the cache keep the answer.
func TestReachableCommitsRemembered(t *testing.T) {
	t.Parallel()
	p, _, first := proposed(t)
	p.call(t, netRepository+"?ref="+first)
	in := with(p.installer(), func(o *installer.Options) { o.CacheDir = t.TempDir() })
	install := func(req request) (requests int) {
		t.Helper()
		p.world.ResetRequests()
		req.Dir, req.Policies = p.dir, reachableCommits
		mustInstall(t, in, req.Project, req.InstallOptions)
		return len(p.world.Requests())
	}
	install(request{})
	for _, locked := range []bool{false, true} {
		if n := install(request{InstallOptions: installer.InstallOptions{Locked: locked}}); n > 0 {
			t.Errorf("locked %t: %d requests", locked, n)
		}
		p.remove(t, ".terraform")
		if n := install(request{InstallOptions: installer.InstallOptions{Locked: locked}}); n > 0 {
			t.Errorf("locked %t, from the cache: %d requests", locked, n)
		}
	}
	in = with(in, func(o *installer.Options) { o.CacheDir = t.TempDir() })
	if n := install(request{}); n > 0 {
		t.Errorf("with the project's records: %d requests", n)
	}
}

// In offline mode the rule cannot be checked. That is a warning, and is not remembered.
func TestReachableCommitsOffline(t *testing.T) {
	t.Parallel()
	p, foreign, first := proposed(t)
	for commit, refused := range map[string]bool{foreign: true, first: false} {
		p.call(t, netRepository+"?ref="+commit)
		p.mustInstall(t, request{})
		var warnings []event.Warning
		mustInstall(t, withWarnings(p.installer(), &warnings), installer.Project{Dir: p.dir, Policies: reachableCommits}, installer.InstallOptions{Offline: true})
		if len(warnings) != 1 || !strings.Contains(warnings[0].Message, "cannot be checked in offline mode") {
			t.Errorf("offline: the warnings are %v", warnings)
		}
		_, err := p.installer().Install(t.Context(), installer.Project{Dir: p.dir, Policies: reachableCommits}, installer.InstallOptions{})
		if refusesCommit(err, "net", commit) != refused || !refused && err != nil {
			t.Errorf("online: %v, want refused %t", err, refused)
		}
	}
}

// A history that cannot be read to its end is not enough, and the violation says why.
func TestReachableCommitsUnknown(t *testing.T) {
	t.Parallel()
	p, _, first := proposed(t)
	for _, tag := range []string{"v1.2.0", "v1.3.0", "v1.4.0"} {
		testenv.Must(t, p.world.PublishTag("net.git", tag, fstest.MapFS{"main.tf": {Data: []byte("# " + tag + "\n")}}))
	}
	p.call(t, netRepository+"?ref="+first)
	for _, locked := range []bool{false, true} {
		in := p.installer()
		in.Options().Fetcher.(*getmodules.Fetcher).Limits.HistoryCommits = 1
		_, err := in.Install(t.Context(), installer.Project{Dir: p.dir, Policies: reachableCommits}, installer.InstallOptions{Locked: locked})
		if !refusesCommit(err, "net", first) || !strings.Contains(err.Error(), "is not known: ") {
			t.Errorf("locked %t: %v", locked, err)
		}
		p.mustInstall(t, request{})
	}
}
