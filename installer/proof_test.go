package installer_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const changingWorld = `
-- config/main.tf --
module "registry" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "1.0.0"
}
module "range" {
  source = "git::https://MODTEST_HOST/git/net.git?version=~> 1.0"
}
module "tag" {
  source = "git::https://MODTEST_HOST/git/net.git?ref=v1.0.0"
}
module "branch" {
  source = "git::https://MODTEST_HOST/git/plain.git?ref=main"
}
module "archive" {
  source = "https://MODTEST_HOST/archives/n.zip"
}
module "oci" {
  source = "oci://MODTEST_HOST/db?tag=1.0.0"
}
-- registry/acme/net/aws/1.0.0/main.tf --
# first
-- git/net.git/v1.0.0/main.tf --
# first
-- git/plain.git/_HEAD/main.tf --
# first
-- archives/n.zip/main.tf --
# first
-- oci/db/1.0.0/main.tf --
# first
`

// changeAll replaces the content of all packages of changingWorld and keeps their names.
func changeAll(t *testing.T, p *project) {
	t.Helper()
	second := fstest.MapFS{"main.tf": {Data: []byte("# second\n")}}
	if err := errors.Join(
		p.world.PublishVersion("acme/net/aws", "1.0.0", second), p.world.MoveTag("net.git", "v1.0.0", second),
		p.world.PublishArchive("n.zip", second), p.world.PushOCI("db", "1.0.0", modtest.OCIModule, second),
		p.world.PublishTag("plain.git", "v9.0.0", second),
	); err != nil {
		t.Fatal(err)
	}
}

// An update refuses new content for the same version, version tag or archive, unless it accepts
// that of the call, or of all. An update of everything keeps what is locked, and updates the
// others. Branches may move.
func TestUpdateRefusesOtherContent(t *testing.T) {
	t.Parallel()
	changing := []addrs.Module{{"registry"}, {"range"}, {"tag"}, {"archive"}, {"oci"}}
	for name, accepting := range map[string]installer.Update{
		"the calls": {All: true, AcceptChanged: changing},
		"all":       {All: true, AcceptAllChanged: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := world(t, changingWorld)
			p.mustInstall(t, request{})
			changeAll(t, p)
			err := p.mustFail(t, request{InstallOptions: installer.InstallOptions{Update: installer.Update{Keys: changing}}})
			refused := map[string]string{}
			for err := range installer.ModuleErrors(err) {
				var changed *installer.ContentChangedError
				if !errors.As(err, &changed) {
					t.Errorf("update: %v", err)
					continue
				}
				refused[changed.Path.String()] = strings.ReplaceAll(changed.Name, string(p.world.Host()), "HOST")
				says := "has OTHER CONTENT than the lock ("
				if strings.HasPrefix(changed.Name, "tag ") {
					says = changed.Name + " moved " // as an installation says it
				}
				if !strings.Contains(changed.Error(), says) || changed.Locked == changed.Now {
					t.Errorf("%s: %s", changed.Path, changed.Error())
				}
			}
			want := map[string]string{"registry": "1.0.0", "range": "1.0.0", "tag": "tag v1.0.0", "archive": "https://HOST/archives/n.zip", "oci": "tag 1.0.0"}
			if diff := cmp.Diff(want, refused); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}

			var warned []string
			everything := request{InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}}
			everything.OnEvent = func(e installer.Event) {
				if w, ok := e.(event.Warning); ok {
					warned = append(warned, w.Path.String())
					if w.Kind != event.WarningMoved || !errors.As(w.Err, new(*installer.ContentChangedError)) {
						t.Errorf("a warning: %+v", w)
					}
				}
			}
			result := p.mustInstall(t, everything)
			if len(result.LockChanges) != 1 || result.LockChanges[0].Path.String() != "branch" {
				t.Errorf("an update of everything changes %+v", result.LockChanges)
			}
			slices.Sort(warned)
			if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), warned); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if got := p.file(".terraform/modules/registry/main.tf"); got != "# first\n" {
				t.Errorf("what is locked is %q", got)
			}

			result = p.mustInstall(t, request{InstallOptions: installer.InstallOptions{Update: accepting}})
			reported := 0
			for _, change := range result.LockChanges {
				if change.OtherContent != "" {
					reported++
				}
			}
			if reported != 5 || len(result.LockChanges) != 5 {
				t.Errorf("%d of %d changes are reported as other content, want 5 of 5", reported, len(result.LockChanges))
			}
			if got := p.file(".terraform/modules/registry/main.tf"); got != "# second\n" {
				t.Errorf("the accepted module is %q", got)
			}
		})
	}
}

// dropEntry removes the block of a module from the lock.
func (p *project) dropEntry(t *testing.T, key string) {
	t.Helper()
	block := regexp.MustCompile(`(?s)\nmodule "` + regexp.QuoteMeta(key) + `" \{.*?\n\}\n`)
	lock := p.file(".terraform.lock.hcl")
	if !block.MatchString(lock) {
		t.Fatalf("the lock has no entry for %s", key)
	}
	p.write(t, ".terraform.lock.hcl", block.ReplaceAllString(lock, ""))
}

// If a single entry is missing, it is restored. The origin is queried to check that the tag
// still means what was locked.
func TestVanishedEntry(t *testing.T) {
	t.Parallel()
	for _, moved := range []bool{false, true} {
		p := world(t, changingWorld)
		p.mustInstall(t, request{})
		lock := p.file(".terraform.lock.hcl")
		for _, key := range []string{"registry", "tag"} {
			p.dropEntry(t, key)
		}
		var refused *installer.LockedError
		if err := p.mustFail(t, request{InstallOptions: installer.InstallOptions{Locked: true}}); !errors.As(err, &refused) || len(refused.Reasons) != 2 || !refused.Reasons[0].Vanished {
			t.Errorf("Locked: %v, want two missing entries", err)
		}
		if moved {
			changeAll(t, p)
			var tag *installer.ContentChangedError
			if err := p.mustFail(t, request{}); !errors.As(err, &tag) || !tag.Confirming {
				t.Errorf("Install after the tag has moved: %v", err)
			}
			continue
		}
		p.mustInstall(t, request{})
		if diff := cmp.Diff(lock, p.file(".terraform.lock.hcl")); diff != "" {
			t.Errorf("the lock (-before +after):\n%s", diff)
		}
		if !strings.Contains(p.events(), "had lost its entries for 2 modules (registry, tag)") {
			t.Errorf("no warning:\n%s", p.events())
		}
	}
}

// Restore also restores single entries, but not those of calls that were removed or have another
// source.
func TestRestoreSingleEntries(t *testing.T) {
	t.Parallel()
	p := world(t, changingWorld)
	p.mustInstall(t, request{})
	for _, key := range []string{"registry", "tag", "archive", "branch"} {
		p.dropEntry(t, key)
	}
	config := p.file("main.tf")
	config = strings.Replace(config, `module "branch"`, `module "renamed"`, 1)
	config = strings.Replace(config, "n.zip", "other.zip", 1)
	p.write(t, "main.tf", config)
	restored, err := installerinternal.Restore(context.Background(), p.installer(), installer.Project{Dir: p.dir}, nil)
	testenv.Must(t, err)
	if diff := cmp.Diff([]addrs.Module{{"registry"}, {"tag"}}, restored.Modules); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

// Providers in the lock affect which tool a project seems to belong to, but not the origin of
// locked modules.
func TestHostStays(t *testing.T) {
	t.Parallel()
	p := world(t, "-- config/main.tf --\nmodule \"net\" {\n  source = \"acme/net/aws\"\n}\n")
	lock := `
module "net" {
  version = "1.0.0"
  source  = "registry.terraform.io/acme/net/aws"

  package = "git::https://git.example.com/net.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0"

  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
  ]
}
provider "registry.opentofu.org/hashicorp/null" {
  version = "3.2.1"
}
`
	p.write(t, ".terraform.lock.hcl", lock)
	err := p.mustFail(t, request{})
	var changed *installer.HostChangedError
	if !errors.As(err, &changed) {
		t.Fatalf("Install: %v", err)
	}
	for _, text := range []string{"registry.terraform.io", "registry.opentofu.org", "conventions of terraform"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the message does not name %s: %v", text, err)
		}
	}
	if diff := cmp.Diff(lock, p.file(".terraform.lock.hcl")); diff != "" {
		t.Errorf("the lock (-before +after):\n%s", diff)
	}
	if err := p.mustFail(t, request{Project: installer.Project{Dialect: installer.DialectOpenTofu}}); errors.As(err, &changed) {
		t.Errorf("with the dialect of the request: %v", err)
	}
}

// loggingFetcher wraps another Fetcher, as a program that embeds Cotter may do.
type loggingFetcher struct{ installer.Fetcher }

// blindFetcher cannot resolve references.
type blindFetcher struct{ installer.Fetcher }

var errBlind = errors.New("references cannot be resolved here")

func (blindFetcher) Reference(context.Context, getmodules.Request) (getmodules.Reference, error) {
	return getmodules.Reference{}, errBlind
}

// A wrapped Fetcher can do everything that the original can. If it cannot resolve a reference,
// the run fails.
func TestWrappedFetcher(t *testing.T) {
	t.Parallel()
	p := world(t, changingWorld)
	p.mustInstall(t, request{})
	changeAll(t, p)
	p.remove(t, ".terraform")
	in := with(p.installer(), func(o *installer.Options) { o.Fetcher = loggingFetcher{o.Fetcher} })
	_, err := in.Install(context.Background(), installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true})
	var moved *installer.ContentChangedError
	if !errors.As(err, &moved) || !moved.Confirming {
		t.Errorf("a moved tag, by a wrapped Fetcher: %v", err)
	}
	in = with(in, func(o *installer.Options) { o.Fetcher = blindFetcher{o.Fetcher} })
	if _, err = in.Install(context.Background(), installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true}); !errors.Is(err, errBlind) {
		t.Errorf("a moved tag, by a Fetcher that cannot tell: %v", err)
	}
}

// A git store in the cache contains a commit that the origin does not have. A locked branch may
// have moved, so the origin must be queried for the commit.
func TestCommitOfForeignStore(t *testing.T) {
	t.Parallel()
	p := world(t, `
-- config/main.tf --
module "branch" {
  source = "git::https://MODTEST_HOST/git/plain.git?ref=main"
}
-- git/plain.git/v1.0.0/main.tf --
# good
`)
	cache := t.TempDir()
	install := func(req request) error {
		in := with(p.installer(), func(o *installer.Options) { o.CacheDir = cache })
		in.Options().Fetcher.(*getmodules.Fetcher).CacheDir, in.Options().Fetcher.(*getmodules.Fetcher).GitBackend = cache, getmodules.GitInstalled
		req.Dir = p.dir
		_, err := in.Install(context.Background(), req.Project, req.InstallOptions)
		return err
	}
	evil := fstest.MapFS{"main.tf": {Data: []byte("# evil\n")}}
	testenv.Must(t, errors.Join(p.world.PublishTag("plain.git", "v2.0.0", evil), install(request{})))
	if p.file(".terraform/modules/branch/main.tf") != "# evil\n" {
		t.Fatal("the attacker's commit is not installed")
	}
	testenv.Must(t, p.world.ReplaceRepository("plain.git", "v1.0.0", fstest.MapFS{"main.tf": {Data: []byte("# good\n")}}))
	p.remove(t, ".terraform")
	p.state = t.TempDir() // the state of another user
	if err := install(request{InstallOptions: installer.InstallOptions{Locked: true}}); err == nil || p.file(".terraform/modules/branch/main.tf") != "" {
		t.Errorf("a commit that only the cache has was installed: %v", err)
	}
}

// Runs with Unify and runs of VerifyRemote send events.
func TestEventsOfEveryRun(t *testing.T) {
	t.Parallel()
	p := world(t, changingWorld)
	p.mustInstall(t, request{InstallOptions: installer.InstallOptions{Unify: true}})
	for _, event := range []string{"FetchStarted", "FetchDone", "Resolved"} {
		if !strings.Contains(p.events(), event) {
			t.Errorf("a run with Unify has no %s:\n%s", event, p.events())
		}
	}
	p.log = nil
	if _, err := p.installer().VerifyRemote(context.Background(), installer.Project{Dir: p.dir}, installer.OriginOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.events(), "FetchStarted") { // for the archive
		t.Errorf("VerifyRemote has no events:\n%s", p.events())
	}
}

// If the lock has an entry for a call that was removed, Verify reports it as stale, like a
// locked run.
func TestVerifyGoneCall(t *testing.T) {
	t.Parallel()
	p := world(t, changingWorld)
	p.mustInstall(t, request{})
	p.write(t, "main.tf", strings.Replace(p.file("main.tf"), `module "oci"`, `module "renamed"`, 1))
	report, err := p.installer().Verify(context.Background(), installer.Project{Dir: p.dir}, installer.VerifyOptions{})
	if err != nil || len(report.Stale) != 2 {
		t.Errorf("Verify = %v, %v; want the call without an entry and the entry without a call", report.Stale, err)
	}
}

// Runs without a state directory work and do not warn.
func TestWithoutState(t *testing.T) {
	t.Parallel()
	p := world(t, changingWorld)
	p.state = ""
	p.mustInstall(t, request{})
	p.mustInstall(t, request{InstallOptions: installer.InstallOptions{Locked: true}})
	if strings.Contains(p.events(), "Warning") {
		t.Errorf("there is a warning:\n%s", p.events())
	}
}

// A cache that cannot be used is replaced by a temporary one, and there is one warning.
func TestUnusableCache(t *testing.T) {
	t.Parallel()
	p := world(t, changingWorld)
	file := filepath.Join(t.TempDir(), "file")
	testenv.Must(t, os.WriteFile(file, nil, 0o600))
	in := with(p.installer(), func(o *installer.Options) { o.CacheDir = filepath.Join(file, "cache") })
	mustInstall(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{})
	if n := strings.Count(p.events(), "Kind:"+string(event.WarningNoCache)); n != 1 {
		t.Errorf("%d warnings are about the cache, want one:\n%s", n, p.events())
	}
	if _, err := os.Stat(filepath.Join(p.dir, ".terraform/modules/.cotter/stage/@cache")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary cache is still there: %v", err)
	}
}

// A cache and a key that other users can exchange are not used, there is one warning, and nothing is
// written there.
func TestExposedCache(t *testing.T) {
	t.Parallel()
	p := world(t, changingWorld)
	open := filepath.Join(testenv.EnterableDir(t), "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil { //nolint:gosec // this is the test
		t.Fatal(err)
	}
	in := with(p.installer(), func(o *installer.Options) {
		o.CacheDir, o.StateDir = filepath.Join(open, "cache"), filepath.Join(open, "state")
	})
	var warnings []event.Warning
	mustInstall(t, withWarnings(in, &warnings), installer.Project{Dir: p.dir}, installer.InstallOptions{})
	if len(warnings) != 1 || warnings[0].Kind != event.WarningExposed || !errors.As(warnings[0].Err, new(*pathsafe.ExposedError)) {
		t.Errorf("the warnings are %+v, want one of the kind %q", warnings, event.WarningExposed)
	}
	if found, err := os.ReadDir(open); len(found) > 0 || err != nil {
		t.Errorf("the directory has %v, %v", found, err)
	}
	if err := (store.Cache{Dir: in.Options().CacheDir, StateDir: in.Options().StateDir}).Check(); !errors.As(err, new(*pathsafe.ExposedError)) {
		t.Errorf("Check = %v, want an ExposedError", err)
	}
}
