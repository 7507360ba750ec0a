package installer_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/modtest"
)

const pastWorld = `
-- config/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "~> 1.0"
}
-- registry/acme/net/aws/1.0.0/main.tf --
module "sub" {
  source = "MODTEST_HOST/acme/sub/aws"
}
-- registry/acme/sub/aws/0.1.0/main.tf --
-- git/infra.git/v1.0.0/main.tf --
# one
`

// calls replaces the root module by calls, one a line: a key, a source, and a constraint that may
// be missing.
func (p *project) calls(t *testing.T, calls string) {
	t.Helper()
	var text strings.Builder
	for line := range strings.Lines(calls) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		text.WriteString("module \"" + fields[0] + "\" {\n  source = \"" + fields[1] + "\"\n")
		if len(fields) > 2 {
			text.WriteString("  version = \"" + strings.Join(fields[2:], " ") + "\"\n")
		}
		text.WriteString("}\n")
	}
	p.write(t, "main.tf", text.String())
}

// released returns the version of an entry, or its package if it has no version.
func released(entry lockfile.Module) string {
	if entry.Version.IsZero() {
		return entry.Package.String()
	}
	return entry.Version.String()
}

// selected describes what an installation has added to the lock: "KEY VERSION WHY", and the newer
// version if there is one.
func selected(result *installer.Result) []string {
	var list []string
	for _, change := range result.LockChanges {
		if change.New.Key == "" {
			continue
		}
		what := released(change.New)
		if _, commit, ok := strings.Cut(what, "?ref="); ok {
			what = commit
		}
		list = append(list, strings.TrimSpace(change.Path.String()+" "+what+" "+change.Selection.String()+" "+change.Newer.String()))
	}
	return list
}

func (p *project) checkSelected(t *testing.T, req request, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, selected(p.mustInstall(t, req))); diff != "" {
		t.Errorf("selected (-want +got):\n%s", diff)
	}
}

func (p *project) checkWarned(t *testing.T, says string) {
	t.Helper()
	for line := range strings.Lines(p.events()) {
		if strings.HasPrefix(line, "Warning{") && strings.Contains(line, says) {
			return
		}
	}
	t.Errorf("no warning has %q:\n%s", says, p.events())
}

const net = "MODTEST_HOST/acme/net/aws"

// A call without an entry takes the version that the lock has for its source.
func TestSameSource(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		calls string
		req   request
		want  []string
	}{
		{"renamed", "network " + net + " ~> 1.0", request{}, []string{"network 1.0.0 same source", "network.sub 0.1.0 same source"}},
		{"second", "a " + net + " ~> 1.0\nnet " + net + " ~> 1.0", request{}, []string{"a 1.0.0 same source", "a.sub 0.1.0 same source"}},
		{"another constraint", "a " + net + "\nnet " + net + " ~> 1.0", request{}, []string{"a 1.0.0 same source", "a.sub 0.1.0 same source"}},
		{"excluded", "net " + net + " > 1.0.0\nb " + net, request{}, []string{"b 1.0.0 same source", "b.sub 0.1.0 same source", "net 1.5.0 newest"}},
		{"not allowed", "a " + net + " > 1.0.0\nnet " + net + " ~> 1.0", request{}, []string{"a 1.5.0 newest"}},
		{"another directory", "a " + net + "//x\nnet " + net + " ~> 1.0", request{}, []string{"a 1.5.0 newest"}},
		{"lock only", "network " + net, request{InstallOptions: installer.InstallOptions{LockOnly: true}}, []string{"network 1.0.0 same source", "network.sub 0.1.0 same source"}},
		{"copies", "network " + net, request{Project: installer.Project{Layout: installer.LayoutCopy}}, []string{"network 1.0.0 same source", "network.sub 0.1.0 same source"}},
		{"unified", "a " + net + "\nb " + net, request{InstallOptions: installer.InstallOptions{Unify: true}}, []string{"a 1.0.0 same source", "a.sub 0.1.0 same source", "b 1.0.0 same source", "b.sub 0.1.0 same source"}},
		{"all updated", "network " + net, request{InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}}, []string{"network 1.5.0 newest"}},
		{"itself updated", "network " + net, request{InstallOptions: installer.InstallOptions{Update: installer.Update{Keys: []addrs.Module{{"network"}}}}}, []string{"network 1.5.0 newest"}},
		{"the other updated", "a " + net + "\nnet " + net, request{InstallOptions: installer.InstallOptions{Update: installer.Update{Keys: []addrs.Module{{"net"}}}}}, []string{"a 1.5.0 newest", "net 1.5.0 newest"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, pastWorld)
			p.mustInstall(t, request{})
			err := p.world.PublishVersion("acme/net/aws", "1.5.0", modtest.Txtar("-- main.tf --\n-- x/main.tf --\n"))
			testenv.Must(t, err)
			p.publish(t, "acme/sub/aws", "0.2.0")
			p.calls(t, test.calls)
			p.checkSelected(t, test.req, test.want...)
		})
	}
}

// Of several versions in the lock, a call takes the highest that its constraint allows. A call
// below one that is updated takes the newest.
func TestSameSourceOfSeveral(t *testing.T) {
	t.Parallel()
	p := world(t, pastWorld)
	for _, v := range []string{"1.1.0", "1.2.0", "1.3.0"} {
		p.publish(t, "acme/net/aws", v)
	}
	p.calls(t, "a "+net+" 1.1.0\nb "+net+" 1.2.0\nc MODTEST_HOST/acme/sub/aws")
	p.mustInstall(t, request{})
	p.publish(t, "acme/sub/aws", "0.2.0")
	p.calls(t, "a "+net+" 1.1.0\nb "+net+" 1.2.0\nc MODTEST_HOST/acme/sub/aws\nd "+net+"\ne "+net+" < 1.2.0\nf "+net+" > 1.2.0")
	p.checkSelected(t, request{}, "d 1.2.0 same source", "e 1.1.0 same source", "f 1.3.0 newest")

	testenv.Must(t, p.world.PublishVersion("acme/net/aws", "1.4.0", modtest.Txtar("-- main.tf --\nmodule \"sub\" {\n  source = \""+p.world.Source("acme/sub/aws")+"\"\n}\n")))
	p.checkSelected(t, request{InstallOptions: installer.InstallOptions{Update: installer.Update{Keys: []addrs.Module{{"d"}}}}}, "d 1.4.0 newest", "d.sub 0.2.0 newest")
	p.calls(t, "c MODTEST_HOST/acme/sub/aws\nf "+net+" > 1.3.0")
	p.checkSelected(t, request{}, "f 1.4.0 newest", "f.sub 0.2.0 same source")
}

// A renamed call needs no request if its package is in the cache, not even in offline mode. It keeps
// the content of the lock.
func TestRenamedOffline(t *testing.T) {
	t.Parallel()
	p := world(t, pastWorld)
	in := with(p.installer(), func(o *installer.Options) { o.CacheDir = t.TempDir() })
	install := func(req request) *installer.Result {
		t.Helper()
		req.Dir = p.dir
		result, err := in.Install(t.Context(), req.Project, req.InstallOptions)
		testenv.Must(t, err)
		return result
	}
	install(request{})
	before := p.lockOf(t)
	p.publish(t, "acme/net/aws", "1.5.0")
	p.calls(t, "network "+net)
	p.world.ResetRequests()
	if diff := cmp.Diff([]string{"network 1.0.0 same source", "network.sub 0.1.0 same source"}, selected(install(request{InstallOptions: installer.InstallOptions{Offline: true}}))); diff != "" {
		t.Errorf("selected (-want +got):\n%s", diff)
	}
	if requests := p.world.Requests(); len(requests) > 0 {
		t.Errorf("requests: %v", requests)
	}
	old, _ := before.Module("net")
	now, _ := p.lockOf(t).Module("network")
	if !slices.Equal(old.Hashes, now.Hashes) || old.Package != now.Package {
		t.Errorf("the entry was %v, and is %v now", old, now)
	}
}

// A call that is renamed when tofu or terraform has dropped the blocks takes what they had.
func TestRenamedWithLostEntries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		lose func(*project, *testing.T)
		want string
	}{
		{"dropped", func(p *project, t *testing.T) { p.write(t, ".terraform.lock.hcl", "# rewritten\n") }, "network 1.0.0 same source"},
		{"deleted", func(p *project, t *testing.T) { p.remove(t, ".terraform.lock.hcl") }, "network 1.5.0 newest"},
		{"another branch", func(p *project, t *testing.T) {
			p.write(t, ".terraform.lock.hcl", strings.ReplaceAll(p.file(".terraform.lock.hcl"), `"net`, `"old`))
		}, "network 1.0.0 same source"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, pastWorld)
			p.mustInstall(t, request{})
			p.publish(t, "acme/net/aws", "1.5.0")
			p.calls(t, "network "+net)
			test.lose(p, t)
			if got := selected(p.mustInstall(t, request{})); len(got) == 0 || got[0] != test.want {
				t.Errorf("selected %q, want %q", got, test.want)
			}
		})
	}
}

// A renamed call keeps its commit, although its branch has moved.
func TestRenamedBranch(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"git::https://MODTEST_HOST/git/infra.git", "git::https://MODTEST_HOST/git/infra.git?ref=main"} {
		p := world(t, pastWorld)
		p.calls(t, "a "+source)
		p.mustInstall(t, request{})
		commit := p.commitOf(t, "infra.git", "_HEAD")
		p.pushMain(t)
		p.calls(t, "b "+source)
		p.checkSelected(t, request{}, "b "+commit+" same source")
		if warnings, err := p.onNewMachine(t, request{InstallOptions: installer.InstallOptions{Locked: true}}); err != nil || len(warnings) > 0 {
			t.Errorf("on another machine: %v, %v", warnings, err)
		}
	}
}

func (p *project) commitOf(t *testing.T, repo, tag string) string {
	t.Helper()
	commit, err := p.world.Commit(repo, tag)
	testenv.Must(t, err)
	return commit
}

// pushMain adds a commit to the branch main of infra.git.
func (p *project) pushMain(t *testing.T) {
	t.Helper()
	testenv.Must(t, p.world.PublishTag("infra.git", "v1.1.0", modtest.Txtar("-- main.tf --\n# two\n")))
}

// If the locked version no longer exists, a renamed call takes the newest, and the run says so.
func TestRenamedGone(t *testing.T) {
	t.Parallel()
	p := world(t, pastWorld)
	p.calls(t, "a git::https://MODTEST_HOST/git/infra.git?ref=main")
	p.mustInstall(t, request{})
	testenv.Must(t, p.world.ReplaceRepository("infra.git", "v1.0.0", modtest.Txtar("-- main.tf --\n# other\n")))
	p.calls(t, "b git::https://MODTEST_HOST/git/infra.git?ref=main")
	p.remove(t, ".terraform")
	p.state = t.TempDir()
	p.checkSelected(t, request{}, "b "+p.commitOf(t, "infra.git", "_HEAD")+" newest")
	p.checkWarned(t, "which has the same source, but it can no longer be used, so the newest was selected: cannot fetch")
}

// Renaming a call is no way to get other content under a locked version.
func TestRenamedWithOtherContent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, call string
		change     func(*modtest.World) error
	}{
		{"archive", "https://MODTEST_HOST/archives/net.zip", func(w *modtest.World) error {
			return w.PublishArchive("net.zip", modtest.Txtar("-- main.tf --\n# evil\n"))
		}},
		{"version", net, func(w *modtest.World) error {
			return w.PublishVersion("acme/net/aws", "1.0.0", modtest.Txtar("-- main.tf --\n# evil\n"))
		}},
		{"a range of tags", "git::https://MODTEST_HOST/git/infra.git?version=1.0.0", func(w *modtest.World) error {
			return w.ReplaceRepository("infra.git", "v1.0.0", modtest.Txtar("-- main.tf --\n# evil\n"))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, pastWorld+"-- archives/net.zip/main.tf --\n")
			p.calls(t, "a "+test.call)
			p.mustInstall(t, request{})
			testenv.Must(t, test.change(p.world))
			p.calls(t, "b "+test.call)
			p.remove(t, ".terraform")
			p.state = t.TempDir()
			err := p.mustFail(t, request{})
			_, mismatch := errors.AsType[*installer.HashMismatchError](err)
			_, changed := errors.AsType[*installer.ContentChangedError](err)
			if !mismatch && !changed {
				t.Errorf("error %v, want one about other content", err)
			}
		})
	}
}

type stockRecord struct{ Key, Source, Version, Dir string }

// stockInstall writes modules.json as a stock tool does, and clones whose HEAD is a commit.
func (p *project) stockInstall(t *testing.T, commits map[string]string, records ...stockRecord) {
	t.Helper()
	for i := range records {
		records[i].Dir = ".terraform/modules/" + records[i].Key
	}
	text, err := json.Marshal(map[string]any{"Modules": append([]stockRecord{{Dir: "."}}, records...)})
	testenv.Must(t, err)
	p.write(t, ".terraform/modules/modules.json", string(text))
	for key, commit := range commits {
		p.write(t, ".terraform/modules/"+key+"/.git/HEAD", commit+"\n")
	}
}

// The first lock takes the version of a registry's module that a stock tool has installed.
func TestFirstLockTakesInstalledVersions(t *testing.T) {
	t.Parallel()
	installed := []stockRecord{{Key: "net", Source: net, Version: "1.0.0"}, {Key: "net.sub", Source: "MODTEST_HOST/acme/sub/aws", Version: "0.1.0"}}
	for _, test := range []struct {
		name     string
		calls    string
		req      request
		records  []stockRecord
		want     []string
		warnings int
	}{
		{"installed", "net " + net, request{}, installed, []string{"net 1.0.0 installed 1.5.0", "net.sub 0.1.0 installed 0.2.0"}, 0},
		{"with providers", "net " + net, request{InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}, installed, []string{"net 1.0.0 installed 1.5.0", "net.sub 0.1.0 installed 0.2.0"}, 0},
		{"not allowed", "net " + net + " > 1.0.0", request{}, installed, []string{"net 1.5.0 newest"}, 0},
		{"another key", "other " + net, request{}, installed, []string{"other 1.5.0 newest"}, 0},
		{"another source", "net " + net + "//x", request{}, installed, []string{"net 1.5.0 newest"}, 0},
		{"no longer offered", "net " + net, request{}, []stockRecord{{Key: "net", Source: net, Version: "1.1.0"}}, []string{"net 1.5.0 newest"}, 1},
		{"the newest", "net " + net, request{}, []stockRecord{{Key: "net", Source: net, Version: "1.5.0"}}, []string{"net 1.5.0 installed"}, 0},
		{"unified", "a " + net + "\nnet " + net, request{InstallOptions: installer.InstallOptions{Unify: true}}, installed, []string{"a 1.0.0 unified", "a.sub 0.1.0 unified", "net 1.0.0 installed", "net.sub 0.1.0 installed"}, 0},
		{"upgrade", "net " + net, request{InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}}, installed, []string{"net 1.5.0 newest"}, 0},
		{"update", "net " + net, request{InstallOptions: installer.InstallOptions{Update: installer.Update{Keys: []addrs.Module{{"net"}}}}}, installed, []string{"net 1.5.0 newest"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, pastWorld)
			testenv.Must(t, p.world.PublishVersion("acme/net/aws", "1.5.0", modtest.Txtar("-- main.tf --\n-- x/main.tf --\n")))
			p.publish(t, "acme/sub/aws", "0.2.0")
			p.calls(t, test.calls)
			p.stockInstall(t, nil, test.records...)
			p.checkSelected(t, test.req, test.want...)
			if n := strings.Count(p.events(), "Warning{"); n != test.warnings {
				t.Errorf("%d warnings, want %d:\n%s", n, test.warnings, p.events())
			}
		})
	}
}

// A run that must not change the lock refuses the same calls, whatever is installed.
func TestInstalledVersionsDoNotMatterForLockedRuns(t *testing.T) {
	t.Parallel()
	for _, isInstalled := range []bool{false, true} {
		p := world(t, pastWorld)
		p.publish(t, "acme/net/aws", "1.5.0")
		if isInstalled {
			p.stockInstall(t, nil, stockRecord{Key: "net", Source: net, Version: "1.0.0"})
		}
		err := p.mustFail(t, request{InstallOptions: installer.InstallOptions{Locked: true}})
		locked, ok := errors.AsType[*installer.LockedError](err)
		if !ok || len(locked.Reasons) != 1 || locked.Reasons[0].Path.String() != "net" {
			t.Errorf("error %v, want that the lock has no entry for net", err)
		}
		result := p.mustInstall(t, request{InstallOptions: installer.InstallOptions{LockOnly: true, DryRun: true}})
		if len(result.LockChanges) == 0 {
			t.Error("lock --check accepts a lock without the entry")
		}
	}
}

// If the lock file of an earlier run was deleted, versions are selected anew.
func TestInstalledVersionsOfEarlierRuns(t *testing.T) {
	t.Parallel()
	p := world(t, pastWorld)
	p.mustInstall(t, request{})
	p.publish(t, "acme/net/aws", "1.5.0")
	p.remove(t, ".terraform.lock.hcl")
	p.checkSelected(t, request{}, "net 1.5.0 newest")
	p.remove(t, ".terraform.lock.hcl")
	p.publish(t, "acme/net/aws", "1.6.0")
	p.state = t.TempDir() // of another user
	p.checkSelected(t, request{}, "net 1.6.0 newest")
}

// The policies apply to an installed version as to every new one.
func TestMinAgeOfInstalledVersion(t *testing.T) {
	t.Parallel()
	p := agingProject(t)
	p.stockInstall(t, nil, stockRecord{Key: "net", Source: net, Version: "1.1.0"})
	p.checkSelected(t, aged(request{}), "net 1.0.0 newest")
	p.checkWarned(t, "version 1.1.0 was passed over")
}

// The first lock takes the commit of a branch that a stock tool has cloned, if it is still in the
// history of the branch.
func TestFirstLockTakesInstalledCommits(t *testing.T) {
	t.Parallel()
	const infra = "git::https://MODTEST_HOST/git/infra.git"
	for _, test := range []struct {
		name          string
		call, source  string
		commit        string // "old", "new", "proposed" or "tagged"
		want, warning string // of want, the commit
		why           string
	}{
		{"a branch", infra + "?ref=main", infra + "?ref=main", "old", "old", "", "installed"},
		{"the default branch", infra, infra, "old", "old", "", "installed"},
		{"the newest", infra + "?ref=main", infra + "?ref=main", "new", "new", "", "installed"},
		{"a range", infra + "?version=~>1.0", infra + "?version=~>1.0", "old", "1.0.0", "", "installed 1.1.0"},
		{"a range in the place of a tag", infra + "?version=~>1.0", infra + "?ref=v1.0.0", "old", "1.0.0", "", "installed 1.1.0"},
		{"a tag", infra + "?ref=v1.0.0", infra + "?ref=v1.0.0", "old", "old", "", "installed"},

		{"another ref", infra + "?ref=main", infra + "?ref=v1.0.0", "old", "new", "", "newest"},
		{"a pull request", infra + "?ref=main", infra + "?ref=main", "proposed", "new", "whose history does not have it; the new commit was selected", "newest"},
		{"only in a tag", infra + "?ref=main", infra + "?ref=main", "tagged", "new", "whose history does not have it; the new commit was selected", "newest"},
		{"a tag that has moved", infra + "?ref=v1.1.0", infra + "?ref=v1.1.0", "old", "new", "is installed, but tag v1.1.0 points to", "newest"},
		{"a range without the commit", infra + "?version=>1.0.0", infra + "?version=>1.0.0", "old", "1.1.0", "", "newest"},
		{"no commit", infra + "?ref=main", infra + "?ref=main", "ref: refs/heads/../x", "new", "", "newest"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, pastWorld)
			commits := map[string]string{"old": p.commitOf(t, "infra.git", "_HEAD")}
			p.pushMain(t)
			commits["new"] = p.commitOf(t, "infra.git", "_HEAD")
			var err error
			if commits["proposed"], err = p.world.ProposeCommit("infra.git", "refs/pull/1/head", evilFiles); err != nil {
				t.Fatal(err)
			}
			if commits["tagged"], err = p.world.ProposeCommit("infra.git", "refs/tags/other", evilFiles); err != nil {
				t.Fatal(err)
			}
			named := func(name string) string {
				if commit, ok := commits[name]; ok {
					return commit
				}
				return name
			}
			p.calls(t, "net "+test.call)
			p.stockInstall(t, map[string]string{"net": named(test.commit)}, stockRecord{Key: "net", Source: test.source})
			p.checkSelected(t, request{}, "net "+named(test.want)+" "+test.why)
			if got := strings.Count(p.events(), "Warning{"); got != 0 && test.warning == "" {
				t.Errorf("unexpected warnings:\n%s", p.events())
			}
			if test.warning != "" {
				p.checkWarned(t, test.warning)
			}
			if warnings, err := p.onNewMachine(t, request{InstallOptions: installer.InstallOptions{Locked: true}}); err != nil || len(warnings) > 0 {
				t.Errorf("on another machine: %v, %v", warnings, err)
			}
		})
	}
}

// Stock tools clone a package once. Other calls of it have copies without the repository.
func TestInstalledCommitOfCopies(t *testing.T) {
	t.Parallel()
	const infra = "git::https://MODTEST_HOST/git/infra.git?ref=main"
	p := world(t, pastWorld)
	old := p.commitOf(t, "infra.git", "_HEAD")
	p.pushMain(t)
	p.calls(t, "a "+infra+"\nb "+infra+"\nc "+infra)
	p.stockInstall(t, map[string]string{"b": old}, stockRecord{Key: "a", Source: infra}, stockRecord{Key: "b", Source: infra})
	testenv.Must(t, os.MkdirAll(filepath.Join(p.dir, ".terraform/modules/a"), 0o755))
	p.checkSelected(t, request{}, "a "+old+" installed", "b "+old+" installed", "c "+p.commitOf(t, "infra.git", "_HEAD")+" newest")
}
