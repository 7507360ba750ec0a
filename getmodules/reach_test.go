package getmodules_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/git/gitfixture"
)

// reachRepo is a repository whose commits have names.
type reachRepo struct {
	*gitRepo
	id map[string]string
	// date is the date of the next commit, in seconds since 1970.
	date int64
}

func newReachRepo(t testing.TB, root, name string, initArgs ...string) *reachRepo {
	t.Helper()
	return &reachRepo{gitRepo: newGitRepo(t, root, name, initArgs...), id: map[string]string{}, date: 1_700_000_000}
}

// add writes a commit with the named parents. It is 30 days newer than the one before.
func (r *reachRepo) add(name string, parents ...string) string {
	r.t.Helper()
	c := gitfixture.Commit{
		Tree:    r.made(r.fixture().Tree(gitfixture.File{Path: "main.tf", Content: []byte("# " + name + "\n")})),
		By:      fmt.Sprintf("a <a@example.com> %d +0000", r.date),
		Message: name + "\n",
	}
	for _, parent := range parents {
		c.Parents = append(c.Parents, r.id[parent])
	}
	r.date += 30 * 24 * 60 * 60
	r.id[name] = r.made(r.fixture().Commit(c))
	return r.id[name]
}

// ref points a ref to a named commit.
func (r *reachRepo) ref(ref, commit string) { r.setRef(ref, r.id[commit]) }

// reachWorld fills a repository with refs of every kind.
//
//	m0 - m1 - m2 - m3 - m4 - m5   main; v1.0.0 is m3, v2.0.0 an annotated tag of m3
//	      \    \       /
//	       s0 --\---- s1          merged in m4
//	             r0 - r1          release
//	l0 - l1                       only v0.0.1, an annotated tag
//
// All other commits are descendants of m2 that no branch or tag has.
func reachWorld(t testing.TB, root, name string, initArgs ...string) *reachRepo {
	t.Helper()
	r := newReachRepo(t, root, name, initArgs...)
	r.add("m0")
	r.add("m1", "m0")
	r.add("s0", "m1")
	r.add("m2", "m1")
	r.add("r0", "m2")
	r.add("s1", "s0")
	r.add("m3", "m2")
	r.add("m4", "m3", "s1")
	r.add("r1", "r0")
	r.add("m5", "m4")
	r.add("l0")
	r.add("l1", "l0")
	r.ref("refs/heads/main", "m5")
	r.ref("refs/heads/release", "r1")
	r.ref("refs/tags/v1.0.0", "m3")
	r.annotate("v2.0.0", r.id["m3"])
	r.annotateTag("twice", "v2.0.0")
	r.annotate("v0.0.1", r.id["l1"])
	r.made(r.fixture().Tag(gitfixture.Tag{Name: "key", Object: r.blob("key"), Kind: "blob", By: gitBy, Message: "x\n"}))
	r.setRef("refs/tags/tree", r.made(r.fixture().Tree(gitfixture.File{Path: "x", Content: []byte("x")})))
	for name, ref := range map[string]string{
		"forced": "", "pull": "refs/pull/1/head", "note": "refs/notes/commits", "change": "refs/changes/01/1/1", "odd": "refs/odd",
	} {
		r.add(name, "m2")
		if ref != "" {
			r.ref(ref, name)
		}
	}
	return r
}

// reachCases are the commits of reachWorld and the expected answers.
var reachCases = map[string]struct {
	commit, ref string
	want        getmodules.Reachability
	by          string
}{
	"tip of the branch":             {"m5", "main", getmodules.Reachable, "refs/heads/main"},
	"branch moved on":               {"m2", "main", getmodules.Reachable, "refs/heads/main"},
	"HEAD moved on":                 {"m4", "", getmodules.Reachable, "refs/heads/main"},
	"root":                          {"m0", "main", getmodules.Reachable, "refs/heads/main"},
	"second parent":                 {"s0", "main", getmodules.Reachable, "refs/heads/main"},
	"tag moved on":                  {"m1", "v1.0.0", getmodules.Reachable, "refs/tags/v1.0.0"},
	"tag moved back":                {"m4", "v1.0.0", getmodules.Reachable, "refs/heads/main"},
	"tag moved to another branch":   {"r0", "v1.0.0", getmodules.Reachable, "refs/heads/release"},
	"tag deleted":                   {"r0", "v1.1.0", getmodules.Reachable, "refs/heads/release"},
	"annotated tag":                 {"m3", "v2.0.0", getmodules.Reachable, "refs/tags/v2.0.0"},
	"annotated tag of a tag":        {"m3", "twice", getmodules.Reachable, "refs/tags/twice"},
	"only below an annotated tag":   {"l0", "main", getmodules.Reachable, "refs/tags/v0.0.1"},
	"only at an annotated tag":      {"l1", "", getmodules.Reachable, "refs/tags/v0.0.1"},
	"force-pushed away":             {"forced", "main", getmodules.Unreachable, ""},
	"forged for a tag":              {"pull", "v1.0.0", getmodules.Unreachable, ""},
	"pull request":                  {"pull", "refs/pull/1/head", getmodules.Unreachable, ""},
	"notes":                         {"note", "main", getmodules.Unreachable, ""},
	"change":                        {"change", "main", getmodules.Unreachable, ""},
	"ref outside heads and tags":    {"odd", "odd", getmodules.Unreachable, ""},
	"commit the server lacks":       {"none", "main", getmodules.Unreachable, ""},
	"ref has a name of another one": {"m2", "refs/heads/release", getmodules.Reachable, "refs/heads/release"},
}

// reachClients are the clients that can be used without credentials.
var reachClients = map[string]func(testing.TB) *getmodules.Fetcher{
	"v2": func(t testing.TB) *getmodules.Fetcher {
		return &getmodules.Fetcher{CacheDir: t.TempDir(), Git: getmodules.Git{Env: gitEnv(t)}}
	},
	"git":      func(t testing.TB) *getmodules.Fetcher { return newGitFetcher(t) },
	"built-in": func(t testing.TB) *getmodules.Fetcher { return newBuiltInFetcher(t) },
}

func TestReachable(t *testing.T) {
	t.Parallel()
	for server, config := range map[string]map[string]string{
		"any commit":     {"uploadpack.allowAnySHA1InWant": "true"},
		"default":        {},
		"no filter":      {"uploadpack.allowFilter": "false", "uploadpack.allowReachableSHA1InWant": "true"},
		"no tree:0":      {"uploadpackfilter.allow": "false", "uploadpackfilter.blob:none.allow": "true"},
		"no filters":     {"uploadpackfilter.allow": "false"},
		"old server":     {"old": "true"},
		"old, no tree:0": {"old": "true", "uploadpackfilter.tree.allow": "false"},
		"old, any":       {"old": "true", "uploadpack.allowAnySHA1InWant": "true"},
		"old, filter":    {"old": "true", "uploadpack.allowFilter": "false"},
	} {
		s := newGitServer(t)
		s.oldProtocol = config["old"] != ""
		r := reachWorld(t, s.root, "net.git")
		r.id["none"] = strings.Repeat("1", 40)
		for name, value := range config {
			if name != "old" {
				r.git("", "config", name, value)
			}
		}
		addresses := map[string]string{"http": "git::" + s.URL + "/net.git"}
		if server == "default" {
			addresses["file"] = "git::file://" + filepath.ToSlash(r.dir)
			addresses["git"] = "git::git://" + newGitDaemon(t, s.root) + "/net.git"
		}
		for scheme, address := range addresses {
			for client, fetcher := range reachClients {
				if client == "v2" && (scheme != "http" || s.oldProtocol && server != "old server") {
					continue // git does everything
				}
				t.Run(server+"/"+scheme+"/"+client, func(t *testing.T) {
					t.Parallel()
					f := fetcher(t)
					reachTogether(t, f, r, address, server == "any commit")
					if client == "built-in" || client == "v2" && !s.oldProtocol || server == "default" && scheme == "http" {
						reachSingly(t, f, r, address)
					}
				})
			}
		}
	}
}

// reachSingly searches for each commit of reachCases on its own.
func reachSingly(t *testing.T, f *getmodules.Fetcher, r *reachRepo, address string) {
	t.Helper()
	for name, tt := range reachCases {
		req := getmodules.Request{Package: addrs.ParseModulePackage(address), Revision: r.id[tt.commit]}
		if tt.ref != "" {
			req.Package = addrs.ParseModulePackage(address + "?ref=" + tt.ref)
		}
		got, err := f.Reachable(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkReach(t, name, got[req.Revision], tt.want, tt.by)
	}
}

// reachTogether searches for all commits of reachCases at once. Some of them are in several
// refs. lacks is set if the server says what it lacks.
func reachTogether(t *testing.T, f *getmodules.Fetcher, r *reachRepo, address string, lacks bool) {
	t.Helper()
	var all []getmodules.LockedCommit
	for _, tt := range reachCases {
		all = append(all, getmodules.LockedCommit{Revision: r.id[tt.commit], Ref: tt.ref})
	}
	found, err := f.Reachable(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(address)}, all...)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range reachCases {
		got := found[r.id[tt.commit]]
		if got.Result != tt.want || (got.Ref == "") != (tt.by == "") {
			t.Errorf("together: %s: %v by %q (%v), want %v", name, got.Result, got.Ref, got.Err, tt.want)
		}
		missing := errors.Is(got.Err, getmodules.ErrRevisionNotFound)
		// A server that sends only what a ref has lacks "forced" as well.
		if missing != (tt.commit == "none") && (lacks || missing && tt.commit != "forced") {
			t.Errorf("together: %s: ErrRevisionNotFound is %v (%v)", name, missing, got.Err)
		}
	}
}

func checkReach(t *testing.T, name string, got getmodules.Reach, want getmodules.Reachability, by string) {
	t.Helper()
	if got.Result != want || got.Ref != by {
		t.Errorf("%s: %v by %q (%v), want %v by %q", name, got.Result, got.Ref, got.Err, want, by)
	}
}

// line adds n commits to main, and returns their names, the oldest first.
func (r *reachRepo) line(n int) []string {
	r.t.Helper()
	var history strings.Builder
	for i := range n {
		fmt.Fprintf(&history, "commit refs/heads/main\ncommitter a <a@example.com> %d +0000\ndata 3\nabc\nM 100644 inline main.tf\ndata 5\n%05d\n", r.date+int64(i)*3600, i)
	}
	r.git(history.String(), "fast-import", "--quiet")
	return strings.Fields(r.git("", "rev-list", "--reverse", "refs/heads/main"))
}

// TestReachableLongHistory checks that a search transfers little if the commit is near, and how
// it ends if it is not.
func TestReachableLongHistory(t *testing.T) {
	t.Parallel()
	const commits = 3000
	s := newGitServer(t)
	r := newReachRepo(t, s.root, "net.git")
	line := r.line(commits)
	r.id["l100"], r.id["tip"] = line[100], line[commits-1]
	r.add("forged", "tip")
	var bytes atomic.Int64
	counted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s.Config.Handler.ServeHTTP(countingWriter{w, &bytes}, req)
	}))
	t.Cleanup(counted.Close)
	ask := func(t *testing.T, f *getmodules.Fetcher, id string) (getmodules.Reach, int64) {
		t.Helper()
		bytes.Store(0)
		got, err := f.Reachable(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("git::" + counted.URL + "/net.git?ref=main"), Revision: id})
		if err != nil {
			t.Fatal(err)
		}
		return got[id], bytes.Load()
	}
	for client, fetcher := range reachClients {
		f := fetcher(t)
		near, cost := ask(t, f, line[commits-10])
		checkReach(t, client+": near", near, getmodules.Reachable, "refs/heads/main")
		if cost > 64<<10 {
			t.Errorf("%s: %d bytes for a commit that is 10 behind", client, cost)
		}
		far, _ := ask(t, f, line[0])
		checkReach(t, client+": root", far, getmodules.Reachable, "refs/heads/main")
		forged, _ := ask(t, f, r.id["forged"])
		checkReach(t, client+": forged", forged, getmodules.Unreachable, "")

		for name, limits := range map[string]getmodules.Limits{"commits": {HistoryCommits: 2000}, "bytes": {HistoryBytes: 50_000}} {
			f := fetcher(t)
			f.Limits = limits
			near, _ := ask(t, f, line[commits-10])
			checkReach(t, client+": near with a limit of "+name, near, getmodules.Reachable, "refs/heads/main")
			for _, id := range []string{line[0], r.id["forged"]} {
				got, _ := ask(t, f, id)
				checkReach(t, client+": limit of "+name, got, getmodules.ReachUnknown, "")
				if _, ok := errors.AsType[*getmodules.HistoryLimitError](got.Err); !ok || !errors.Is(got.Err, getmodules.ErrTooLarge) {
					t.Errorf("%s: limit of %s: %v", client, name, got.Err)
				}
			}
		}
		// Exactly as many as there are.
		f = fetcher(t)
		f.Limits.HistoryCommits = commits
		edge, _ := ask(t, f, r.id["forged"])
		checkReach(t, client+": limit of all commits", edge, getmodules.Unreachable, "")
	}
}

// TestReachableManyTags uses more tags than git can request one by one.
func TestReachableManyTags(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newReachRepo(t, s.root, "net.git")
	line := r.line(300)
	for i := range 150 {
		r.setRef(fmt.Sprintf("refs/tags/v1.%d.0", i), line[2*i])
	}
	r.add("only")
	r.add("tagged", "only")
	r.ref("refs/tags/v0.1.0", "tagged")
	r.add("forged", "tagged")
	for client, fetcher := range reachClients {
		for name, want := range map[string]getmodules.Reachability{"only": getmodules.Reachable, "forged": getmodules.Unreachable} {
			by := ""
			if want == getmodules.Reachable {
				by = "refs/tags/v0.1.0"
			}
			got, err := fetcher(t).Reachable(t.Context(), getmodules.Request{Package: s.address(r.gitRepo, "ref=v1.3.0"), Revision: r.id[name]})
			if err != nil {
				t.Errorf("%s: %s: %v", client, name, err)
			}
			checkReach(t, client+": "+name, got[r.id[name]], want, by)
		}
	}
}

// TestReachableDates checks that dates in commits never decide.
func TestReachableDates(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newReachRepo(t, s.root, "net.git")
	dates := map[string]int64{"past": 1, "normal": 1_700_000_000, "future": 4_000_000_000, "child": 1_000_000_000, "zero": 0}
	parent := []string{}
	for _, name := range []string{"normal", "future", "child", "past", "zero", "last"} {
		r.date = dates[name]
		if name == "last" {
			r.date = 1_600_000_000
		}
		r.add(name, parent...)
		parent = []string{name}
	}
	r.ref("refs/heads/main", "last")
	for name, date := range map[string]int64{"forged past": 1, "forged future": 4_000_000_000, "forged now": time.Now().Unix()} {
		r.date = date
		r.add(name, "normal")
	}
	for client, fetcher := range reachClients {
		for name, id := range r.id {
			want, by := getmodules.Reachable, "refs/heads/main"
			if strings.HasPrefix(name, "forged") {
				want, by = getmodules.Unreachable, ""
			}
			got, err := fetcher(t).Reachable(t.Context(), getmodules.Request{Package: s.address(r.gitRepo, "ref=main"), Revision: id})
			if err != nil {
				t.Errorf("%s: %s: %v", client, name, err)
			}
			checkReach(t, client+": "+name, got[id], want, by)
		}
	}
}

// TestReachableShallow uses a repository that is a shallow clone.
func TestReachableShallow(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newReachRepo(t, s.root, "whole.git")
	line := r.line(20)
	r.git("", "clone", "--quiet", "--bare", "--depth=5", "file://"+filepath.ToSlash(r.dir), filepath.Join(s.root, "net.git"))
	shallow := &reachRepo{gitRepo: &gitRepo{t: t, dir: filepath.Join(s.root, "net.git"), env: r.env}, id: map[string]string{"l18": line[18]}, date: r.date}
	shallow.git("", "config", "uploadpack.allowFilter", "true")
	forged := shallow.add("forged", "l18")
	for client, fetcher := range reachClients {
		for _, oldProtocol := range []bool{false, true} {
			server := newGitServer(t)
			server.root, server.oldProtocol = s.root, oldProtocol
			for name, tt := range map[string]struct {
				id   string
				want getmodules.Reachability
			}{
				"present": {line[17], getmodules.Reachable}, "boundary": {line[15], getmodules.Reachable},
				"forged": {forged, getmodules.ReachUnknown},
			} {
				by := ""
				if tt.want == getmodules.Reachable {
					by = "refs/heads/main"
				}
				got, err := fetcher(t).Reachable(t.Context(), getmodules.Request{Package: server.address(shallow.gitRepo, "ref=main"), Revision: tt.id})
				if err != nil {
					t.Errorf("%s: %s: %v", client, name, err)
				}
				checkReach(t, fmt.Sprintf("%s: %s, old %v", client, name, oldProtocol), got[tt.id], tt.want, by)
				if name == "forged" && !errors.Is(got[tt.id].Err, getmodules.ErrIncompleteHistory) {
					t.Errorf("%s: %s: %v, want ErrIncompleteHistory", client, name, got[tt.id].Err)
				}
			}
		}
	}
}

// TestReachableDumb uses a server that only has the files of the repository.
func TestReachableDumb(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := reachWorld(t, s.root, "net.git")
	r.git("", "update-server-info")
	dumb := httptest.NewServer(http.FileServer(http.Dir(s.root)))
	t.Cleanup(dumb.Close)
	for client, fetcher := range reachClients {
		if client == "built-in" {
			continue // does not read such repositories at all
		}
		for commit, want := range map[string]getmodules.Reachability{
			"m5": getmodules.Reachable, "m2": getmodules.ReachUnknown, "forced": getmodules.ReachUnknown,
		} {
			id, by := r.id[commit], ""
			if want == getmodules.Reachable {
				by = "refs/heads/main"
			}
			got, err := fetcher(t).Reachable(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("git::" + dumb.URL + "/net.git?ref=main"), Revision: id})
			if err != nil {
				t.Errorf("%s: %s: %v", client, commit, err)
			}
			checkReach(t, client+": "+commit, got[id], want, by)
			if want == getmodules.ReachUnknown && !errors.Is(got[id].Err, getmodules.ErrNoHistory) {
				t.Errorf("%s: %s: %v, want ErrNoHistory", client, commit, got[id].Err)
			}
		}
	}
}

func TestReachableSHA256(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := reachWorld(t, s.root, "net.git", "--object-format=sha256")
	r.id["none"] = strings.Repeat("1", 64)
	reachTogether(t, reachClients["v2"](t), r, s.address(r.gitRepo, "").String(), true)
	id := r.id["m2"]
	if _, err := reachClients["built-in"](t).Reachable(t.Context(), getmodules.Request{Package: s.address(r.gitRepo, ""), Revision: id}); !errors.Is(err, getmodules.ErrBuiltInGit) {
		t.Errorf("built-in: %v, want ErrBuiltInGit", err)
	}
	short := strings.Repeat("1", 40)
	got, err := reachClients["git"](t).Reachable(t.Context(), getmodules.Request{Package: s.address(r.gitRepo, ""), Revision: short})
	if err != nil || got[short].Result != getmodules.Unreachable || !errors.Is(got[short].Err, getmodules.ErrRevisionNotFound) {
		t.Errorf("a SHA-1 name in a SHA-256 repository: %+v, %v", got[short], err)
	}
}

func TestReachableEmpty(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newReachRepo(t, s.root, "net.git")
	id := r.add("forged")
	for client, fetcher := range reachClients {
		got, err := fetcher(t).Reachable(t.Context(), getmodules.Request{Package: s.address(r.gitRepo, ""), Revision: id})
		if err != nil {
			t.Errorf("%s: %v", client, err)
		}
		checkReach(t, client, got[id], getmodules.Unreachable, "")
	}
}

func TestReachableErrors(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := reachWorld(t, s.root, "net.git")
	held := make(chan struct{})
	asked := make(chan struct{}, 100)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked <- struct{}{}
		select {
		case <-held:
		case <-req.Context().Done():
		}
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(held) })
	for client, fetcher := range reachClients {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			cancel()
		}()
		_, err := fetcher(t).Reachable(ctx, getmodules.Request{Package: addrs.ParseModulePackage("git::" + slow.URL + "/net.git"), Revision: r.id["m2"]})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", client, err)
		}
		for name, tt := range map[string]struct {
			address, revision string
			want              error
		}{
			"no repository": {"git::" + s.URL + "/none.git", r.id["m2"], getmodules.ErrRepositoryNotFound},
			"not git":       {"https://example.com/x.zip", r.id["m2"], getmodules.ErrUnsupportedScheme},
			"short":         {"git::" + s.URL + "/net.git", r.id["m2"][:12], nil},
			"none":          {"git::" + s.URL + "/net.git", "", nil},
		} {
			scratch := t.TempDir()
			got, err := fetcher(t).Reachable(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(tt.address), Revision: tt.revision, Scratch: scratch})
			if failed, ok := errors.AsType[*getmodules.FetchError](err); !ok || got != nil || tt.want != nil && !errors.Is(failed, tt.want) {
				t.Errorf("%s: %s: %v, %v; want %v", client, name, got, err, tt.want)
			}
			left, err := os.ReadDir(scratch)
			if diff := cmp.Diff(0, len(left)); diff != "" || err != nil {
				t.Errorf("%s: %s: left in the scratch directory (-want +got):\n%s%v", client, name, diff, err)
			}
		}
	}
}
