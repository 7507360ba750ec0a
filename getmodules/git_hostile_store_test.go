//go:build unix

package getmodules_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// hostileStore describes what an attacker did to a store before a fetch used it.
type hostileStore struct {
	name string
	// do changes the store at dir. evil is the path of a program that leaves a mark if it
	// runs; outside is a directory that must not change.
	do func(dir, evil, outside string) error
	// warns is set if the cache cannot be used for a fetch, and blocked if it cannot be
	// read either.
	warns, blocked bool
}

// hostileConfigs are settings that run a program or redirect git. EVIL stands for the
// program, OUTSIDE for a directory, and URL for the repository's server.
var hostileConfigs = []string{
	"[credential]\n\thelper = !EVIL\n[core]\n\taskPass = EVIL\n",
	"[core]\n\tfsmonitor = EVIL\n\tsshCommand = EVIL\n\tgitProxy = EVIL\n\teditor = EVIL\n\tpager = EVIL\n",
	"[core]\n\thooksPath = OUTSIDE/hooks\n",
	"[core]\n\tworktree = OUTSIDE\n",
	"[url \"ext::EVIL \"]\n\tinsteadOf = URL\n[protocol \"ext\"]\n\tallow = always\n",
	"[url \"file://OUTSIDE/other.git#\"]\n\tinsteadOf = URL\n",
	"[http]\n\tproxy = http://127.0.0.1:1\n",
	"[http]\n\tcookieFile = OUTSIDE/canary\n\tsaveCookies = true\n\textraHeader = X: y\n",
	"[include]\n\tpath = OUTSIDE/config\n",
	"[remote \"x\"]\n\turl = URL/net.git\n\tuploadpack = EVIL\n\tpromisor = true\n\tvcs = evil\n[extensions]\n\tpartialClone = x\n",
	"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n",
	"[extensions]\n\trefStorage = reftable\n",
	"[fetch]\n\tfsckObjects = false\n[transfer]\n\thideRefs = refs\n",
	"not a configuration",
}

func hostileStores(url string) []hostileStore {
	var all []hostileStore
	for _, config := range hostileConfigs {
		all = append(all, hostileConfig(url, config))
	}
	put := func(name, text string) hostileStore {
		return hostileStore{name: "file " + name, do: func(dir, _, outside string) error {
			return writeBelow(dir, name, strings.ReplaceAll(text, "OUTSIDE", outside), 0o600)
		}}
	}
	all = append(all,
		put("config.worktree", "[core]\n\tfsmonitor = true\n"), put("commondir", "OUTSIDE\n"), put("gitdir", "OUTSIDE\n"),
		put("info/attributes", "* filter=x ident\n"), put("info/grafts", "x\n"), put("objects/info/alternates", "OUTSIDE/objects\n"),
		put("objects/info/http-alternates", url+"/other.git/objects\n"), put("objects/info/commit-graph", "x"),
		put("objects/pack/multi-pack-index", "x"), put("shallow", "x\n"), put("packed-refs", "x\n"), put("HEAD", "ref: refs/heads/x\n"),
		put("refs/heads/main", "x\n"), put("refs/cotter/name/x", "ref: HEAD\n"), put("refs/replace/"+strings.Repeat("0", 40), strings.Repeat("0", 40)+"\n"),
	)
	all = append(all, hostileStore{name: "alternates command", do: func(dir, evil, outside string) error {
		if err := writeBelow(dir, "objects/info/alternates", outside+"/other.git/objects\n", 0o600); err != nil {
			return err
		}
		return appendConfig(dir, "[core]\n\talternateRefsCommand = "+evil+"\n")
	}}, hostileStore{name: "hooks", do: func(dir, evil, _ string) error {
		for _, hook := range []string{"reference-transaction", "post-fetch", "post-checkout", "pre-auto-gc"} {
			if err := writeBelow(dir, "hooks/"+hook, "#!/bin/sh\nexec "+evil+"\n", 0o700); err != nil {
				return err
			}
		}
		return nil
	}}, hostileStore{name: "link for the store", do: func(dir, _, outside string) error {
		return os.Symlink(outside, emptied(dir))
	}}, hostileStore{name: "file for the store", do: func(dir, _, _ string) error {
		return os.WriteFile(emptied(dir), nil, 0o600)
	}})
	for _, name := range []string{"config", "HEAD", "FETCH_HEAD", "objects", "objects/pack", "refs", "refs/cotter", "packed-refs", "shallow", "shallow.lock"} {
		all = append(all, hostileStore{name: "link " + name, do: func(dir, _, outside string) error {
			return os.Symlink(filepath.Join(outside, "canary"), emptied(filepath.Join(dir, name)))
		}}, hostileStore{name: "link to nothing " + name, do: func(dir, _, outside string) error {
			return os.Symlink(filepath.Join(outside, "made"), emptied(filepath.Join(dir, name)))
		}}, hostileStore{name: "pipe " + name, do: func(dir, _, _ string) error {
			return syscall.Mkfifo(emptied(filepath.Join(dir, name)), 0o600)
		}})
	}
	for _, suffix := range []string{".lock", ".git"} {
		blocked := suffix == ".lock"
		all = append(all, hostileStore{name: "link " + suffix, warns: true, blocked: blocked, do: func(dir, _, outside string) error {
			return os.Symlink(filepath.Join(outside, "made"), emptied(dir+suffix))
		}}, hostileStore{name: "pipe " + suffix, warns: true, blocked: blocked, do: func(dir, _, _ string) error {
			return syscall.Mkfifo(emptied(dir+suffix), 0o600)
		}}, hostileStore{name: "directory " + suffix, warns: true, blocked: blocked, do: func(dir, _, _ string) error {
			return os.Mkdir(emptied(dir+suffix), 0o700)
		}})
	}
	return append(all, hostileStore{name: "link for all stores", warns: true, blocked: true, do: func(dir, _, outside string) error {
		return os.Symlink(outside, emptied(filepath.Dir(dir)))
	}})
}

// hostileConfig appends settings to a store's configuration.
func hostileConfig(url, config string) hostileStore {
	return hostileStore{name: "config " + config, do: func(dir, evil, outside string) error {
		return appendConfig(dir, strings.NewReplacer("EVIL", evil, "OUTSIDE", outside, "URL", url).Replace(config))
	}}
}

func appendConfig(dir, text string) error {
	config, err := os.ReadFile(filepath.Join(dir, "config"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config"), append(config, text...), 0o600)
}

func writeBelow(dir, name, text string, mode os.FileMode) error {
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), mode)
}

// emptied removes the file or directory called name, so that the caller can put something
// else there, and returns name.
func emptied(name string) string {
	if err := os.RemoveAll(name); err != nil {
		panic(err)
	}
	return name
}

// TestGitHostileStore changes a store in many ways. A fetch must not run or trust anything
// in it, must not write outside it, and must return the right tree. Unless the -exhaustive
// flag is set, the stores that cause no warning take turns: one is used to fetch a known
// commit, the next to fetch a branch.
func TestGitHostileStore(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	other := newGitRepo(t, s.root, "other.git")
	other.commit("main", gitFile{path: "main.tf", content: "# another repository\n"})
	intact := filledGitStore(t, s, r, first)
	for i, tt := range hostileStores(s.URL) {
		revisions := []string{first, ""}
		if !*exhaustive && !tt.warns { // the warnings depend on the request
			revisions = revisions[i%2:][:1]
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, revision := range revisions {
				f, check := poisoned(t, s, intact, tt)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				dir := filepath.Join(t.TempDir(), "tree")
				pkg, err := f.FetchGit(ctx, getmodules.Request{Package: s.address(r, "ref=main"), Revision: revision, Dir: dir})
				want := map[string]string{first: "# one\n", "": "# two\n"}[revision]
				if err != nil || pkg.Revision != first && pkg.Revision != second {
					t.Fatalf("FetchGit at %q = %+v, %v", revision, pkg, err)
				}
				if text, _ := os.ReadFile(filepath.Join(dir, "main.tf")); string(text) != want {
					t.Errorf("FetchGit at %q brings %q, want %q", revision, text, want)
				}
				if warned := strings.Contains(strings.Join(pkg.FetchWarnings, "\n"), f.CacheDir); warned != (tt.warns && (tt.blocked || revision == "")) {
					t.Errorf("FetchGit at %q has the warnings %q", revision, pkg.FetchWarnings)
				}
				check()
			}
		})
	}
}

// TestGitTagsOfHostileStore lists tags with a store that has all of the hostile settings,
// and with stores that cannot be used.
func TestGitTagsOfHostileStore(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, _ := gitMainTF(t, s)
	r.setRef("refs/tags/v1", first)
	newGitRepo(t, s.root, "other.git")
	intact := filledGitStore(t, s, r, first)
	stores := []hostileStore{hostileConfig(s.URL, strings.Join(hostileConfigs, ""))}
	for _, tt := range hostileStores(s.URL) {
		if tt.warns || *exhaustive {
			stores = append(stores, tt)
		}
	}
	for _, tt := range stores {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, check := poisoned(t, s, intact, tt)
			tags, err := f.Tags(t.Context(), getmodules.Request{Package: s.address(r, "")})
			if diff := cmp.Diff([]getmodules.Tag{{Name: "v1", Revision: first}}, tags); err != nil || diff != "" {
				t.Errorf("Tags: %v (-want +got):\n%s", err, diff)
			}
			check()
		})
	}
}

// filledGitStore returns the directory of a store that has one commit of a repository.
func filledGitStore(t *testing.T, s *gitServer, r *gitRepo, commit string) string {
	t.Helper()
	f := newGitFetcher(t)
	if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, ""), Revision: commit}); err != nil {
		t.Fatal(err)
	}
	return gitStoreDir(f, s.URL+"/net.git")
}

// poisoned returns a fetcher whose store was changed as tt says, and a function that
// checks that no program was run and nothing outside the store changed.
func poisoned(t *testing.T, s *gitServer, intact string, tt hostileStore) (*getmodules.Fetcher, func()) {
	t.Helper()
	f := newGitFetcher(t)
	outside := t.TempDir()
	mark := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	gitScript(t, evil, fmt.Sprintf("touch %s", mark))
	writeFile(t, filepath.Join(outside, "canary"), "alive")
	writeFile(t, filepath.Join(outside, "config"), "[core]\n\tfsmonitor = "+evil+"\n\tsshCommand = "+evil+"\n")
	if err := os.CopyFS(filepath.Join(outside, "other.git"), os.DirFS(filepath.Join(s.root, "other.git"))); err != nil {
		t.Fatal(err)
	}
	before := tree(t, outside)
	dir := gitStoreDir(f, s.URL+"/net.git")
	if err := os.CopyFS(dir, os.DirFS(intact)); err != nil {
		t.Fatal(err)
	}
	if err := tt.do(dir, evil, outside); err != nil {
		t.Fatal(err)
	}
	return f, func() {
		t.Helper()
		if _, err := os.Stat(mark); err == nil {
			t.Error("a program of the store was run")
		}
		if diff := cmp.Diff(before, tree(t, outside)); diff != "" {
			t.Errorf("outside of the store (-before +after):\n%s", diff)
		}
	}
}

// TestGitStoresBehindLinks checks that listing and removing stores never leaves the cache
// directory, even if it contains symbolic links.
func TestGitStoresBehindLinks(t *testing.T) {
	t.Parallel()
	cache, outside := t.TempDir(), t.TempDir()
	name := strings.Repeat("a", 64)
	writeFile(t, filepath.Join(outside, name, "canary"), "alive")
	if err := os.Symlink(outside, filepath.Join(cache, "git")); err != nil {
		t.Fatal(err)
	}
	if stores, err := gitexec.CachedStores(cache); err != nil || len(stores) > 0 {
		t.Errorf("GitStores behind a link = %v, %v; want none", stores, err)
	}
	for _, lock := range []func(string) error{
		func(name string) error { return os.Symlink(filepath.Join(outside, "made"), name) },
		func(name string) error { return syscall.Mkfifo(name, 0o600) },
		func(name string) error { return os.Mkdir(name, 0o700) },
	} {
		store := gitexec.CachedStore{Dir: filepath.Join(t.TempDir(), name)}
		writeFile(t, filepath.Join(store.Dir, "HEAD"), "x")
		if err := lock(store.Dir + ".lock"); err != nil {
			t.Fatal(err)
		}
		if err := store.Remove(t.Context()); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(filepath.Dir(store.Dir)); err != nil || len(left) > 1 {
			t.Errorf("after Remove there is %v, %v", left, err)
		}
	}
	if diff := cmp.Diff(map[string]string{name: "dir", name + "/canary": "alive"}, tree(t, outside)); diff != "" {
		t.Errorf("outside of the cache (-want +got):\n%s", diff)
	}
}
