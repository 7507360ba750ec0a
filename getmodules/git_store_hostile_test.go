//go:build unix

package getmodules_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/testenv"
)

// hostileStore describes what an attacker did to a store before a fetch used it.
type hostileStore struct {
	name string // "KIND: ...", as in [testenv.Kind]
	// do changes the store at dir. evil is the path of a program that leaves a mark if it
	// runs; outside is a directory that must not change.
	do func(dir, evil, outside string) error
	// warns is set if the cache cannot be used for a fetch, and blocked if it cannot be
	// read either.
	warns, blocked bool
}

// hostileConfig has settings that run a program or redirect git. EVIL stands for the program, OUTSIDE for
// a directory, and URL for the repository's server.
const hostileConfig = `
[core]
	repositoryformatversion = 1
	askPass = EVIL
	fsmonitor = EVIL
	sshCommand = EVIL
	gitProxy = EVIL
	editor = EVIL
	pager = EVIL
	alternateRefsCommand = EVIL
	hooksPath = OUTSIDE/hooks
	worktree = OUTSIDE
[credential]
	helper = !EVIL
[url "ext::EVIL "]
	insteadOf = URL
[protocol "ext"]
	allow = always
[http]
	proxy = http://127.0.0.1:1
	cookieFile = OUTSIDE/canary
	saveCookies = true
[include]
	path = OUTSIDE/config
[remote "x"]
	url = URL/net.git
	uploadpack = EVIL
	promisor = true
[extensions]
	worktreeConfig = true
	partialClone = x
[fetch]
	fsckObjects = false
[transfer]
	hideRefs = refs
`

func hostileStores(url string) []hostileStore {
	var all []hostileStore
	put := func(name, text string) hostileStore {
		return hostileStore{name: "file: " + name, do: func(dir, evil, outside string) error {
			text := strings.NewReplacer("EVIL", evil, "OUTSIDE", outside, "URL", url).Replace(text)
			return writeBelow(dir, name, text, 0o700)
		}}
	}
	repository := []hostileStore{
		put("HEAD", "ref: refs/heads/x\n"), put("config", hostileConfig), put("config.worktree", hostileConfig),
		put("info/attributes", "* filter=x ident\n"), put("objects/info/alternates", "OUTSIDE/objects\n"),
		put("info/alternates", "OUTSIDE/other.git/objects\n"), put("refs/heads/main", "x\n"),
		put("hooks/reference-transaction", "#!/bin/sh\nexec EVIL\n"), put("hooks/post-fetch", "#!/bin/sh\nexec EVIL\n"),
	}
	all = append(all, hostileStore{name: "repository", do: func(dir, evil, outside string) error {
		for _, file := range repository {
			if err := file.do(dir, evil, outside); err != nil {
				return err
			}
		}
		return nil
	}})
	missing := strings.Repeat("a", 40)
	all = append(all, put("commondir", "OUTSIDE\n"), put("info/commit-graph", "x"), put("multi-pack-index", "x"), put("packed-refs", "x\n"),
		put("shallow", "x\n"), put("shallow", missing+"\n"), put("pack-"+missing+".idx", "x"), put("pack-"+missing+".pack", "x"),
		hostileStore{name: "link for the store", do: func(dir, _, outside string) error {
			return os.Symlink(outside, emptied(dir))
		}}, hostileStore{name: "file for the store", do: func(dir, _, _ string) error {
			return os.WriteFile(emptied(dir), nil, 0o600)
		}})
	for _, name := range []string{"shallow", "pack-*.pack", "pack-*.idx"} {
		replace := func(kind string, put func(name, outside string) error) {
			all = append(all, hostileStore{name: kind + ": " + name, do: func(dir, _, outside string) error {
				found, err := filepath.Glob(filepath.Join(dir, name))
				if err != nil || len(found) != 1 {
					return fmt.Errorf("%s is %q: %w", name, found, err)
				}
				return put(emptied(found[0]), outside)
			}})
		}
		replace("link", func(name, outside string) error { return os.Symlink(filepath.Join(outside, "canary"), name) })
		replace("link to nothing", func(name, outside string) error { return os.Symlink(filepath.Join(outside, "made"), name) })
		replace("pipe", func(name, _ string) error { return syscall.Mkfifo(name, 0o600) })
		replace("directory", func(name, _ string) error { return os.Mkdir(name, 0o700) })
		replace("missing", func(string, string) error { return nil })
		replace("garbage", func(name, _ string) error { return os.WriteFile(name, []byte("garbage\n"), 0o600) })
	}
	all = append(all, hostileStore{name: "lock: link", warns: true, do: func(dir, _, outside string) error {
		return os.Symlink(filepath.Join(outside, "made"), emptied(dir+".lock"))
	}}, hostileStore{name: "lock: pipe", warns: true, do: func(dir, _, _ string) error {
		return syscall.Mkfifo(emptied(dir+".lock"), 0o600)
	}}, hostileStore{name: "lock: directory", warns: true, do: func(dir, _, _ string) error {
		return os.Mkdir(emptied(dir+".lock"), 0o700)
	}})
	return append(all, hostileStore{name: "link for all stores", warns: true, blocked: true, do: func(dir, _, outside string) error {
		return os.Symlink(outside, emptied(filepath.Dir(dir)))
	}})
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
// in it, must not write outside it, and must return the right tree. A list of tags must not
// depend on it. Unless the -exhaustive flag is set, the stores that cause no warning take turns: one is
// used to fetch a known commit, the next to fetch a branch.
func TestGitHostileStore(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	r.setRef("refs/tags/v1", first)
	other := newGitRepo(t, s.root, "other.git")
	other.commit("main", gitFile{path: "main.tf", content: "# another repository\n"})
	intact := filledGitStore(t, s, r, first)
	for i, tt := range testenv.Sample(hostileStores(s.URL), func(h hostileStore) string { return testenv.Kind(h.name) }) {
		revisions := []string{first, ""}
		if !*testenv.Exhaustive && !tt.warns { // the warnings depend on the request
			revisions = revisions[i%2:][:1]
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, revision := range revisions {
				f, check := poisoned(t, s, intact, tt)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if tt.name == "repository" || tt.warns || *testenv.Exhaustive {
					tags, err := f.Tags(ctx, getmodules.Request{Package: s.address(r, "")})
					if diff := cmp.Diff([]getmodules.Tag{{Name: "v1", Revision: first}}, tags); err != nil || diff != "" {
						t.Errorf("Tags: %v (-want +got):\n%s", err, diff)
					}
				}
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
	testenv.WriteFile(t, filepath.Join(outside, "canary"), "alive")
	testenv.WriteFile(t, filepath.Join(outside, "config"), "[core]\n\tfsmonitor = "+evil+"\n\tsshCommand = "+evil+"\n")
	testenv.Must(t, os.CopyFS(filepath.Join(outside, "other.git"), os.DirFS(filepath.Join(s.root, "other.git"))))
	before := tree(t, outside)
	dir := gitStoreDir(f, s.URL+"/net.git")
	testenv.Must(t, os.CopyFS(dir, os.DirFS(intact)))
	testenv.Must(t, tt.do(dir, evil, outside))
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

// TestGitPlantedRepository replaces what the cache has for a repository while git is being started,
// which is after all checks. Git must not obey it.
func TestGitPlantedRepository(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	other := newGitRepo(t, s.root, "other.git")
	other.commit("main", gitFile{path: "main.tf", content: "# another repository\n"})
	f := newGitFetcher(t)
	if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, ""), Revision: first}); err != nil {
		t.Fatal(err)
	}
	mark, ran := filepath.Join(t.TempDir(), "mark"), filepath.Join(t.TempDir(), "ran")
	store := gitStoreDir(f, s.URL+"/net.git")
	cache := f.CacheDir
	f = newGitFetcher(t)
	f.CacheDir, f.Git.Path = cache, wrappedGit(t, fmt.Sprintf(`case "$*" in *" fetch "*)
	touch %[1]s
	mkdir -p %[3]s/objects/info
	echo %[4]s/objects > %[3]s/objects/info/alternates
	printf '[core]\n\talternateRefsCommand = touch %[2]s; echo\n' >> %[3]s/config
esac`, mark, ran, store, other.dir))
	pkg, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=main")})
	if err != nil || pkg.Revision != second {
		t.Errorf("FetchGit = %+v, %v, want %s", pkg, err, second)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("nothing was planted")
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the command of the planted configuration was run")
	}
}

// TestGitExposedProject fetches into a project whose parent other users may write to. What git obeys is
// elsewhere.
func TestGitExposedProject(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, _, second := gitMainTF(t, s)
	parent, log := filepath.Join(testenv.EnterableDir(t), "shared"), filepath.Join(t.TempDir(), "log")
	if err := errors.Join(os.Mkdir(parent, 0o700), os.Chmod(parent, 0o777), os.Mkdir(filepath.Join(parent, "project"), 0o700)); err != nil { //nolint:gosec // this is the test
		t.Fatal(err)
	}
	f := newGitFetcher(t)
	f.Git.Path = wrappedGit(t, `echo "$GIT_DIR" >> `+log)
	pkg, err := f.FetchGit(t.Context(), getmodules.Request{Package: s.address(r, "ref=main"), Dir: filepath.Join(parent, "project", "net")})
	if err != nil || pkg.Revision != second {
		t.Errorf("FetchGit = %+v, %v, want %s", pkg, err, second)
	}
	if used, err := os.ReadFile(log); err != nil || strings.Contains(string(used), parent) {
		t.Errorf("git used these repositories, %v:\n%s", err, used)
	}
}

// TestGitStoresBehindLinks checks that listing and removing stores never leaves the cache
// directory, even if it contains symbolic links.
func TestGitStoresBehindLinks(t *testing.T) {
	t.Parallel()
	cache, outside := t.TempDir(), t.TempDir()
	name := strings.Repeat("a", 64)
	testenv.WriteFile(t, filepath.Join(outside, name, "canary"), "alive")
	testenv.Must(t, os.Symlink(outside, filepath.Join(cache, "git")))
	if stores, err := gitexec.CachedStores(cache); err != nil || len(stores) > 0 {
		t.Errorf("GitStores behind a link = %v, %v; want none", stores, err)
	}
	for _, lock := range []func(string) error{
		func(name string) error { return os.Symlink(filepath.Join(outside, "made"), name) },
		func(name string) error { return syscall.Mkfifo(name, 0o600) },
		func(name string) error { return os.Mkdir(name, 0o700) },
	} {
		store := gitexec.CachedStore{Dir: filepath.Join(t.TempDir(), name)}
		testenv.WriteFile(t, filepath.Join(store.Dir, "HEAD"), "x")
		testenv.Must(t, lock(store.Dir+".lock"))
		if err := store.Remove(); err != nil {
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

type unusableCache struct {
	name, reason string
	spoil        func(*testing.T, *getmodules.Fetcher)
}

func unusableCaches(t *testing.T) []unusableCache {
	t.Helper()
	return []unusableCache{
		{"a file", "not a directory", func(t *testing.T, f *getmodules.Fetcher) {
			f.CacheDir = filepath.Join(t.TempDir(), "cache")
			testenv.WriteFile(t, f.CacheDir, "")
		}},
		{"below a file", "not a directory", func(t *testing.T, f *getmodules.Fetcher) {
			file := filepath.Join(t.TempDir(), "file")
			testenv.WriteFile(t, file, "")
			f.CacheDir = filepath.Join(file, "cache")
		}},
		{"a file for the stores", "not a directory", func(t *testing.T, f *getmodules.Fetcher) {
			testenv.WriteFile(t, filepath.Join(f.CacheDir, "git"), "")
		}},
		{"no permission", "permission denied", func(t *testing.T, f *getmodules.Fetcher) {
			if os.Geteuid() == 0 {
				t.Skip("root may write everywhere")
			}
			testenv.Must(t, os.Chmod(f.CacheDir, 0o500))
		}},
		{"where nothing can be made", "no such file or directory", func(t *testing.T, f *getmodules.Fetcher) {
			// Not even root can make directories here.
			if _, err := os.Stat("/proc/self/fdinfo"); err != nil {
				t.Skip("there is no /proc")
			}
			f.CacheDir = "/proc/self/fdinfo/cache"
		}},
		{"of another user", "it belongs to another user", func(t *testing.T, f *getmodules.Fetcher) {
			dir := filepath.Join(f.CacheDir, "git")
			testenv.Must(t, os.Mkdir(dir, 0o700))
			if os.Chown(dir, 12345, 12345) != nil {
				t.Skip("only root can give directories away")
			}
		}},
	}
}

// TestGitUnusableCache checks that a cache that cannot be written to causes one warning
// and no error.
func TestGitUnusableCache(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	branch := getmodules.Request{Package: s.local("git", r, "ref=main")}
	later := []getmodules.Request{{Package: s.local("git", r, ""), Revision: first}, {Package: s.local("git", r, "ref="+first[:9])}}
	for i, tt := range unusableCaches(t) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newGitFetcher(t)
			tt.spoil(t, f)
			pkg, _, err := fetchGit(t, f, branch)
			if err != nil || pkg.Revision != second {
				t.Fatalf("FetchGit = %+v, %v, want %s", pkg, err, second)
			}
			want := []string{fmt.Sprintf("the cache %s cannot be written (%s); nothing is kept", f.CacheDir, tt.reason)}
			if diff := cmp.Diff(want, pkg.FetchWarnings); diff != "" {
				t.Errorf("FetchWarnings (-want +got):\n%s", diff)
			}
			requests := later
			if !*testenv.Exhaustive { // the cache makes no difference to these requests
				requests = later[i%len(later):][:1]
			}
			for _, req := range requests {
				if pkg, _, err := fetchGit(t, f, req); err != nil || pkg.Revision != first || len(pkg.FetchWarnings) > 0 {
					t.Errorf("a later FetchGit = %+v, %v, want %s and no warning", pkg, err, first)
				}
			}
			if _, err := f.Tags(t.Context(), getmodules.Request{Package: s.local("git", r, "")}); err != nil {
				t.Errorf("Tags: %v", err)
			}
		})
	}
}

// TestGitOutsideRepository runs in a repository whose configuration starts programs. It
// checks that git commands that need no repository ignore it.
func TestGitOutsideRepository(t *testing.T) {
	s := newGitServer(t)
	r, first, _ := gitMainTF(t, s)
	r.setRef("refs/tags/v1", first)
	mark := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	gitScript(t, evil, "touch "+mark)
	work := newGitRepo(t, t.TempDir(), "work.git")
	for _, key := range []string{"core.sshCommand", "core.askPass", "credential.helper", "core.gitProxy"} {
		work.git("", "config", key, evil)
	}
	work.git("", "config", "url.file:///nowhere/.insteadOf", s.URL)
	t.Chdir(work.dir)
	f := newGitFetcher(t)
	if tags, err := f.Tags(t.Context(), getmodules.Request{Package: s.address(r, "")}); err != nil || len(tags) != 1 {
		t.Errorf("Tags = %v, %v", tags, err)
	}
	// This address has no server.
	_, err := f.Tags(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("git::ssh://git@127.0.0.1:1/net.git")})
	if err == nil {
		t.Error("Tags of nothing succeed")
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the working directory's repository was run")
	}
}
