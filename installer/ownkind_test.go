package installer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// shelf is a source kind of a program: each version has a revision, and each revision a text.
type shelf struct {
	mu    sync.Mutex
	tags  []getmodules.Tag
	texts map[string]string
	asked []string
	lists bool // if it is not set, the getter has no versions
}

func newShelf() *shelf {
	return &shelf{
		lists: true,
		tags:  []getmodules.Tag{{Name: "v1.0.0", Revision: "r1"}, {Name: "1.1.0"}, {Name: "v2.0.0", Revision: "r3"}, {Name: "latest", Revision: "r3"}},
		texts: map[string]string{"r1": "one", "1.1.0": "two", "r3": "three", "": "newest"},
	}
}

func (s *shelf) Get(_ context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from.List && s.lists {
		s.asked = append(s.asked, "list")
		return getmodules.Downloaded{Tags: s.tags}, nil
	}
	s.asked = append(s.asked, "get "+from.Revision)
	if err := os.Mkdir(from.Path, 0o700); err != nil {
		return getmodules.Downloaded{}, err
	}
	text := fmt.Sprintf("output \"text\" { value = %q }\n", s.texts[from.Revision])
	return getmodules.Downloaded{Revision: from.Revision}, os.WriteFile(filepath.Join(from.Path, "main.tf"), []byte(text), 0o600)
}

func (s *shelf) requests() (asked []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, s.asked = s.asked, nil
	return asked
}

// installer has a state of its own, as on another machine.
func (s *shelf) installer(t *testing.T) *installer.Installer {
	return installer.New(installer.Options{
		CacheDir: t.TempDir(), StateDir: t.TempDir(),
		Fetcher: &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"shelf": s}},
	})
}

const onShelf = `
module "net" {
  source  = "shelf::https://shelf.example.com/net"
  version = "~> 1.0"
}
`

// lockedOnShelf returns the only entry of a lock.
func lockedOnShelf(t *testing.T, dir string) lockfile.Module {
	t.Helper()
	lock, err := installer.ReadLock(t.Context(), installer.Project{Dir: dir})
	testenv.Must(t, err)
	if len(lock.Modules()) != 1 {
		t.Fatalf("the lock is\n%s", lock.Bytes())
	}
	return lock.Modules()[0]
}

// The versions of a kind of source that only the program knows are selected and locked as those of git, with the revision.
func TestVersionsOfOwnKind(t *testing.T) {
	t.Parallel()
	s := newShelf()
	dir := writeProject(t, map[string]string{"main.tf": onShelf}, "")
	project := installer.Project{Dir: dir}
	in := s.installer(t)
	_, err := in.Install(t.Context(), project, installer.InstallOptions{})
	testenv.Must(t, err)
	entry := lockedOnShelf(t, dir)
	if diff := cmp.Diff([]string{"1.1.0", "~> 1.0", "shelf::https://shelf.example.com/net?rev=1.1.0"}, []string{entry.Version.String(), entry.Constraints.String(), entry.Package.String()}); diff != "" {
		t.Errorf("the lock (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"list", "get 1.1.0"}, s.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}

	_, err = in.Install(t.Context(), project, installer.InstallOptions{Locked: true, Offline: true})
	testenv.Must(t, err)
	if asked := s.requests(); asked != nil {
		t.Errorf("a second run asked for %q", asked)
	}

	outdated, err := in.Outdated(t.Context(), project, installer.OriginOptions{})
	testenv.Must(t, err)
	if got := outdated.Modules[0]; got.Allowed.String() != "1.1.0" || got.Latest.String() != "2.0.0" {
		t.Errorf("Outdated = %+v", got)
	}
	to, err := versions.Parse("1.0.0")
	testenv.Must(t, err)
	_, err = in.Install(t.Context(), project, installer.InstallOptions{Update: installer.Update{Keys: []addrs.Module{{"net"}}, To: to, AllowDowngrade: true}})
	testenv.Must(t, err)
	if got := lockedOnShelf(t, dir).Package.String(); got != "shelf::https://shelf.example.com/net?rev=r1" {
		t.Errorf("after an update, the package is %s", got)
	}
	s.requests()

	testenv.Must(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
	_, err = s.installer(t).Install(t.Context(), project, installer.InstallOptions{Locked: true})
	testenv.Must(t, err)
	asked := strings.Join(s.requests(), ", ")
	if asked != "list, get r1" && asked != "get r1, list" {
		t.Errorf("another machine asked for %q, want the locked revision, and whether the version still has it", asked)
	}
	report, err := in.VerifyRemote(t.Context(), project, installer.OriginOptions{})
	testenv.Must(t, err)
	if !report.OK() || report.Modules[0].Locked != "r1" {
		t.Errorf("VerifyRemote = %+v", report.Modules)
	}
}

// A version that has another revision than in the lock has moved.
func TestMovedVersionOfOwnKind(t *testing.T) {
	t.Parallel()
	s := newShelf()
	dir := writeProject(t, map[string]string{"main.tf": strings.Replace(onShelf, "~> 1.0", "1.0.0", 1)}, "")
	project := installer.Project{Dir: dir}
	in := s.installer(t)
	_, err := in.Install(t.Context(), project, installer.InstallOptions{})
	testenv.Must(t, err)
	s.tags[0].Revision = "r3"
	report, err := in.VerifyRemote(t.Context(), project, installer.OriginOptions{})
	testenv.Must(t, err)
	if got := report.Modules[0]; report.OK() || got.Compared != installer.ComparedRevision || got.Locked != "r1" || got.Now != "r3" || got.Ref.String() != "tag v1.0.0" {
		t.Errorf("VerifyRemote = %+v", got)
	}
	testenv.Must(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
	_, err = s.installer(t).Install(t.Context(), project, installer.InstallOptions{Locked: true})
	if moved, ok := errors.AsType[*installer.ContentChangedError](err); !ok || moved.Locked != "r1" || moved.Now != "r3" {
		t.Errorf("a locked installation: %v, want a ContentChangedError", err)
	}
	_, err = in.Install(t.Context(), project, installer.InstallOptions{Update: installer.Update{Keys: []addrs.Module{{"net"}}}})
	if _, ok := errors.AsType[*installer.ContentChangedError](err); !ok {
		t.Errorf("an update: %v, want a ContentChangedError", err)
	}
}

// A lock without the revision does not say which content its version has.
func TestLockWithoutRevisionOfOwnKind(t *testing.T) {
	t.Parallel()
	s := newShelf()
	dir := writeProject(t, map[string]string{"main.tf": onShelf}, "")
	project := installer.Project{Dir: dir}
	_, err := s.installer(t).Install(t.Context(), project, installer.InstallOptions{})
	testenv.Must(t, err)
	name := filepath.Join(dir, ".terraform.lock.hcl")
	lock, err := os.ReadFile(name)
	testenv.Must(t, err)
	testenv.Must(t, os.WriteFile(name, []byte(strings.Replace(string(lock), "?rev=1.1.0", "", 1)), 0o600))
	testenv.Must(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
	_, err = s.installer(t).Install(t.Context(), project, installer.InstallOptions{Locked: true})
	if locked, ok := errors.AsType[*installer.LockedError](err); !ok || !strings.Contains(locked.Error(), "which revision has its version") {
		t.Errorf("a locked installation: %v, want a LockedError", err)
	}
}

// Whether a getter has delivered what was asked for is known only from its answer.
func TestGettersOfOwnKindsAreNotBelieved(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		getter getmodules.Getter
		want   error
		text   string
	}{
		"it lists no versions": {&shelf{}, getmodules.ErrUnsupportedScheme, "its getter lists no versions"},
		"it names no revision": {unnamed{newShelf()}, getmodules.ErrRevisionNotFound, `"1.1.0" was asked for, and the getter returned ""`},
		"there is no getter":   {nil, getmodules.ErrUnsupportedScheme, "removed it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := installer.New(installer.Options{Fetcher: &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"shelf": test.getter}}})
			dir := writeProject(t, map[string]string{"main.tf": onShelf}, "")
			_, err := in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{})
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("Install = %v, want %q", err, test.text)
			}
		})
	}
}

// unnamed is a getter that does not say which revision it delivers.
type unnamed struct{ *shelf }

func (u unnamed) Get(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	got, err := u.shelf.Get(ctx, from)
	got.Revision = ""
	return got, err
}

// Without a version argument, the revision that the getter has delivered is in the lock, and nothing is pinned to it.
func TestRevisionOfOwnKind(t *testing.T) {
	t.Parallel()
	s := newShelf()
	dir := writeProject(t, map[string]string{"main.tf": "module \"net\" {\n  source = \"shelf::https://shelf.example.com/net\"\n}\n"}, "")
	in := installer.New(installer.Options{CacheDir: t.TempDir(), StateDir: t.TempDir(), Fetcher: &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"shelf": newest{s}}}})
	_, err := in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{})
	testenv.Must(t, err)
	if entry := lockedOnShelf(t, dir); entry.Package.String() != "shelf::https://shelf.example.com/net?rev=r9" || entry.Revision() != "" {
		t.Errorf("the package is %s", entry.Package)
	}
}

type newest struct{ *shelf }

func (n newest) Get(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	got, err := n.shelf.Get(ctx, from)
	got.Revision = "r9"
	return got, err
}
