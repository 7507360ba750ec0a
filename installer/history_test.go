package installer_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/modtest"
)

const historyWorld = `
-- config/README.md --
-- git/net.git/v1.0.0/main.tf --
# one
-- git/net.git/v1.1.0/main.tf --
# two
-- registry/acme/net/aws/1.0.0/main.tf --
# one
-- oci/net/1.0.0/main.tf --
# one
`

var evilFiles = fstest.MapFS{"main.tf": {Data: []byte("# evil\n")}}

// forgedProject returns a project that calls a source, with a lock whose entry has a commit that
// only a pull request has, and the hashes of that commit.
func forgedProject(t *testing.T, source, repo string) (p *project, commit string) {
	t.Helper()
	p = world(t, historyWorld)
	commit, err := p.world.ProposeCommit(repo, "refs/pull/1/head", evilFiles)
	testenv.Must(t, err)
	p.call(t, strings.ReplaceAll(source, "COMMIT", commit))
	p.mustInstall(t, request{})
	p.forgeCommit(t, commit, evilFiles)
	return p, commit
}

// call makes the root module call one module.
func (p *project) call(t *testing.T, source string) {
	t.Helper()
	p.write(t, "main.tf", "module \"net\" {\n  source = \""+source+"\"\n}\n")
}

// forgeCommit replaces the commit of the only module in the lock, and the hashes by those of
// other files.
func (p *project) forgeCommit(t *testing.T, commit string, files fs.FS) {
	t.Helper()
	p.editEntry(t, func(entry *lockfile.Module) {
		entry.Package = testenv.Package(strings.ReplaceAll(entry.Package.String(), entry.Revision(), commit))
	})
	p.forgeHashes(t, files)
}

// forgeHashes replaces the hashes of the only module in the lock by those of other files, and returns them.
func (p *project) forgeHashes(t *testing.T, files fs.FS) []hashing.Hash {
	t.Helper()
	tree, err := hashing.ReadTree(t.Context(), files)
	testenv.Must(t, err)
	hashes := []hashing.Hash{tree.H1(), tree.T1()}
	p.editEntry(t, func(entry *lockfile.Module) { entry.Hashes = hashes })
	return hashes
}

func (p *project) editEntry(t *testing.T, edit func(*lockfile.Module)) {
	t.Helper()
	lock := p.lockOf(t)
	if len(lock.Modules()) != 1 {
		t.Fatalf("the lock has %d modules", len(lock.Modules()))
	}
	entry := lock.Modules()[0]
	edit(&entry)
	lock.SetModule(entry)
	p.write(t, ".terraform.lock.hcl", string(lock.Bytes()))
}

// onNewMachine runs an installation as on a machine that has only the project's own files.
func (p *project) onNewMachine(t *testing.T, req request) (warnings []event.Warning, err error) {
	t.Helper()
	req.Dir = p.dir
	_, err = withWarnings(freshInstaller(t, p, nil), &warnings).Install(t.Context(), req.Project, req.InstallOptions)
	return warnings, err
}

// A forge serves the commits of pull requests under the address of the repository. They are
// refused in every mode, whatever the call's source looks like.
func TestForgedCommit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, source, repo string
		exact              bool // the address has the commit
	}{
		{"a version tag", "git::https://MODTEST_HOST/git/net.git?ref=v1.0.0", "net.git", false},
		{"a branch", "git::https://MODTEST_HOST/git/net.git?ref=main", "net.git", false},
		{"HEAD", "git::https://MODTEST_HOST/git/net.git", "net.git", false},
		{"a range of versions", "git::https://MODTEST_HOST/git/net.git?version=~> 1.0", "net.git", false},
		{"a registry that answers with commits", "MODTEST_HOST/acme/net/aws", "registry/acme/net/aws.git", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, commit := forgedProject(t, test.source, test.repo)
			lock := p.file(".terraform.lock.hcl")
			for _, mode := range []struct {
				name string
				req  request
			}{
				{"install", request{}},
				{"lock", request{InstallOptions: installer.InstallOptions{LockOnly: true}}},
				{"lock --check", request{InstallOptions: installer.InstallOptions{LockOnly: true, DryRun: true}}},
				{"with an update of a provider", request{InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll, Update: installer.Update{Providers: []string{"hashicorp/null"}}}}},
				{"locked", request{InstallOptions: installer.InstallOptions{Locked: true}}},
			} {
				_, err := p.onNewMachine(t, mode.req)
				_, moved := errors.AsType[*installer.ContentChangedError](err)
				unreachable, ok := errors.AsType[*installer.UnreachableError](err)
				switch {
				case moved && (mode.req.Locked || test.exact):
				case !ok || unreachable.Commit != commit || unreachable.Unknown:
					t.Errorf("%s: error %v, want that no branch or tag contains %s", mode.name, err, commit)
				}
				if p.file(".terraform/modules/net/main.tf") != "" || p.file(".terraform.lock.hcl") != lock {
					t.Errorf("%s changed the project", mode.name)
				}
			}
		})
	}
}

// Anyone can make a commit whose name begins with the same digits as another one.
func TestForgedAbbreviation(t *testing.T) {
	t.Parallel()
	p := world(t, historyWorld)
	commit, err := p.world.ProposeCommit("net.git", "refs/pull/1/head", evilFiles)
	testenv.Must(t, err)
	first, err := p.world.Commit("net.git", "v1.0.0")
	testenv.Must(t, err)
	p.call(t, "git::https://MODTEST_HOST/git/net.git?ref="+first)
	p.mustInstall(t, request{})
	p.call(t, "git::https://MODTEST_HOST/git/net.git?ref="+commit[:10])
	p.forgeCommit(t, commit, evilFiles)
	p.editEntry(t, func(entry *lockfile.Module) {
		entry.Source = testenv.Source(strings.Replace(entry.Source.String(), first, commit[:10], 1))
	})
	for _, locked := range []bool{false, true} {
		_, err := p.onNewMachine(t, request{InstallOptions: installer.InstallOptions{Locked: locked}})
		if _, ok := errors.AsType[*installer.UnreachableError](err); !ok {
			t.Errorf("locked %t: %v", locked, err)
		}
	}
}

// A commit that its ref has left is installed if a branch or tag still contains it, and an artifact that its
// tag has left.
func TestRefMovedOn(t *testing.T) {
	t.Parallel()
	more := fstest.MapFS{"main.tf": {Data: []byte("# three\n")}}
	for _, test := range []struct {
		name, source string
		change       func(*project) error
		kind         event.WarningKind // of plain installations; "" for none
		warning      string
		lockedFails  bool
	}{
		{
			"a branch", "git::https://MODTEST_HOST/git/net.git?ref=main",
			func(p *project) error { return p.world.PublishTag("net.git", "v2.0.0", more) }, "", "", false,
		},
		{
			"a tag that is no version", "git::https://MODTEST_HOST/git/net.git?ref=stable",
			func(p *project) error { return p.world.MoveTag("net.git", "stable", more) }, "", "", false,
		},
		{
			"a version tag", "git::https://MODTEST_HOST/git/net.git?ref=v1.0.0",
			func(p *project) error { return p.world.MoveTag("net.git", "v1.0.0", more) }, event.WarningMoved, "tag v1.0.0 points to COMMIT now; the locked COMMIT is used", true,
		},
		{
			"a version tag that is gone", "git::https://MODTEST_HOST/git/net.git?ref=v1.0.0",
			func(p *project) error { return p.world.DeleteTag("net.git", "v1.0.0") }, event.WarningMoved, "the ref v1.0.0 is gone; the locked COMMIT is used", true,
		},
		{
			"a tag of an artifact", "oci://MODTEST_HOST/net?tag=1.0.0",
			func(p *project) error { return p.world.PushOCI("net", "1.0.0", modtest.OCIModule, more) }, event.WarningMoved, "tag 1.0.0 points to DIGEST now; the locked DIGEST is used", true,
		},
		{
			"a tag of an artifact in a range", "oci://MODTEST_HOST/net?version=~> 1.0",
			func(p *project) error { return p.world.PushOCI("net", "1.0.0", modtest.OCIModule, more) }, event.WarningMoved, "tag 1.0.0 points to DIGEST now; the locked DIGEST is used", true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, historyWorld)
			testenv.Must(t, p.world.PublishTag("net.git", "stable", fstest.MapFS{"main.tf": {Data: []byte("# one\n")}}))
			p.call(t, test.source)
			p.mustInstall(t, request{})
			before, lock := p.file(".terraform/modules/net/main.tf"), p.file(".terraform.lock.hcl")
			testenv.Must(t, test.change(p))
			warnings, err := p.onNewMachine(t, request{})
			if err != nil || p.file(".terraform/modules/net/main.tf") != before || p.file(".terraform.lock.hcl") != lock {
				t.Fatalf("install: %v, and the module is %q", err, p.file(".terraform/modules/net/main.tf"))
			}
			warned := slices.IndexFunc(warnings, func(w event.Warning) bool { return w.Kind == event.WarningMoved })
			if (warned >= 0) != (test.kind != "") || warned >= 0 && p.normalize(warnings[warned].Message) != test.warning {
				t.Errorf("warnings %v, want %q", warnings, test.warning)
			}
			_, err = p.onNewMachine(t, request{InstallOptions: installer.InstallOptions{Locked: true}})
			moved, ok := errors.AsType[*installer.ContentChangedError](err)
			if (err != nil) != test.lockedFails || ok != strings.Contains(test.warning, "points to") || ok && !moved.Confirming {
				t.Errorf("locked: %v, want an error: %t", err, test.lockedFails)
			}
		})
	}
}

// If the history cannot be read to its end, an installation warns, and a run that must not change
// the lock fails. The answer is not remembered.
func TestUnknownHistory(t *testing.T) {
	t.Parallel()
	p := world(t, historyWorld)
	p.call(t, "git::https://MODTEST_HOST/git/net.git?ref=main")
	p.mustInstall(t, request{})
	for _, tag := range []string{"v1.2.0", "v1.3.0", "v1.4.0"} {
		testenv.Must(t, p.world.PublishTag("net.git", tag, fstest.MapFS{"main.tf": {Data: []byte("# " + tag + "\n")}}))
	}
	testenv.Must(t, errors.Join(p.world.DeleteTag("net.git", "v1.1.0"), p.world.DeleteTag("net.git", "v1.0.0")))
	in := freshInstaller(t, p, nil)
	in.Options().Fetcher.(*getmodules.Fetcher).Limits.HistoryCommits = 1
	for range 2 {
		p.log = nil
		p.remove(t, ".terraform")
		mustInstall(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{})
		if !strings.Contains(p.events(), "Kind:"+string(event.WarningUnknownHistory)) {
			t.Fatalf("there is no warning:\n%s", p.events())
		}
	}
	p.remove(t, ".terraform")
	_, err := in.Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true})
	if unknown, ok := errors.AsType[*installer.UnreachableError](err); !ok || !unknown.Unknown {
		t.Errorf("locked: %v", err)
	}
}

// The user can accept the commit of one call. It is accepted on this machine from then on.
func TestAcceptUnreachable(t *testing.T) {
	t.Parallel()
	p, _ := forgedProject(t, "git::https://MODTEST_HOST/git/net.git?ref=main", "net.git")
	in := freshInstaller(t, p, nil)
	install := func(accept ...addrs.Module) error {
		p.remove(t, ".terraform")
		_, err := in.Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{AcceptUnreachable: accept})
		return err
	}
	for _, step := range []struct {
		accept []addrs.Module
		fails  bool
	}{{nil, true}, {[]addrs.Module{{"other"}}, true}, {[]addrs.Module{{"net"}}, false}, {nil, false}} {
		if err := install(step.accept...); (err != nil) != step.fails {
			t.Fatalf("with %q accepted: %v", step.accept, err)
		}
	}
	report, err := in.Verify(t.Context(), installer.Project{Dir: p.dir}, installer.VerifyOptions{})
	if err != nil || report.Packages[0].Evidence.Kind != evidence.User {
		t.Errorf("the evidence is %v, %v", report.Packages[0].Evidence, err)
	}
}

// VerifyRemote compares content. The lock and the installed files may fit each other, and yet not
// be what the origin has.
func TestVerifyRemoteContent(t *testing.T) {
	t.Parallel()
	p := world(t, historyWorld)
	p.call(t, "git::https://MODTEST_HOST/git/net.git?ref=v1.0.0")
	p.mustInstall(t, request{})
	p.write(t, ".terraform/modules/net/main.tf", "# one\n# and more\n")
	forged := p.forgeHashes(t, os.DirFS(filepath.Join(p.dir, ".terraform/modules/net")))
	in := with(p.installer(), func(o *installer.Options) { o.CacheDir, o.StateDir = t.TempDir(), t.TempDir() })
	origins, err := in.VerifyRemote(t.Context(), installer.Project{Dir: p.dir}, installer.OriginOptions{})
	if err != nil || len(origins.Modules) != 1 {
		t.Fatalf("VerifyRemote = %v, %v", origins, err)
	}
	if o := origins.Modules[0]; !o.Moved() || !o.Fetched || o.Compared != installer.ComparedContent || o.Ref != (getmodules.Reference{}) || o.Locked != string(forged[0]) {
		t.Errorf("%+v, want other content", o)
	}
}
