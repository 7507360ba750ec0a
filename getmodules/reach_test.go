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
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gittest"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestReachable(t *testing.T) {
	t.Parallel()
	for server, config := range testenv.SampleMap(map[string]map[string]string{
		"any commit":     {"uploadpack.allowAnySHA1InWant": "true"},
		"default":        {},
		"no filter":      {"uploadpack.allowFilter": "false", "uploadpack.allowReachableSHA1InWant": "true"},
		"no tree:0":      {"uploadpackfilter.allow": "false", "uploadpackfilter.blob:none.allow": "true"},
		"no filters":     {"uploadpackfilter.allow": "false"},
		"old server":     {"old": "true"},
		"old, no tree:0": {"old": "true", "uploadpackfilter.tree.allow": "false"},
		"old, any":       {"old": "true", "uploadpack.allowAnySHA1InWant": "true"},
		"old, filter":    {"old": "true", "uploadpack.allowFilter": "false"},
	}, "default") {
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
			for client, fetcher := range testenv.SampleMap(gitClients, "in process") {
				if client == "in process" && (scheme != "http" || s.oldProtocol && server != "old server") {
					continue // git does everything
				}
				if client == "built in" && (scheme != "http" || s.oldProtocol) {
					if _, err := fetcher(t).Reachable(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(address), Revision: r.id["m2"]}); !errors.Is(err, getmodules.ErrBuiltInGit) {
						t.Errorf("%s over %s without git: %v, want ErrBuiltInGit", server, scheme, err)
					}
					continue
				}
				t.Run(server+"/"+scheme+"/"+client, func(t *testing.T) {
					t.Parallel()
					f := fetcher(t)
					reachTogether(t, f, r, address, server == "any commit")
					if client == "built in" || client == "in process" && !s.oldProtocol || server == "default" && scheme == "http" {
						reachSingly(t, f, r, address)
					}
				})
			}
		}
	}
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
	var bytes atomic.Pointer[atomic.Int64] // of one question, because answers to an earlier one may still be sent
	counted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s.Config.Handler.ServeHTTP(countingWriter{w, bytes.Load()}, req)
	}))
	t.Cleanup(counted.Close)
	ask := func(t *testing.T, f *getmodules.Fetcher, id string) (getmodules.Reach, int64) {
		t.Helper()
		bytes.Store(new(atomic.Int64))
		got, err := f.Reachable(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("git::" + counted.URL + "/net.git?ref=main"), Revision: id})
		testenv.Must(t, err)
		return got[id], bytes.Load().Load()
	}
	for client, fetcher := range testenv.SampleMap(gitClients, "in process") {
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
				if _, ok := errors.AsType[*git.HistoryLimitError](got.Err); !ok || !errors.Is(got.Err, getmodules.ErrTooLarge) {
					t.Errorf("%s: limit of %s: %v", client, name, got.Err)
				}
			}
		}
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
	for client, fetcher := range testenv.SampleMap(gitClients, "in process") {
		for name, want := range map[string]getmodules.Reachability{"only": getmodules.Reachable, "forged": getmodules.Unreachable} {
			by := map[getmodules.Reachability]string{getmodules.Reachable: "refs/tags/v0.1.0"}[want]
			wantReach(t, client+": "+name, fetcher(t), s.address(r.gitRepo, "ref=v1.3.0"), r.id[name], want, by, nil)
		}
	}
}

// TestReachableOldFault uses a history with a commit that git refuses.
func TestReachableOldFault(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newReachRepo(t, s.root, "net.git")
	tree := r.made(r.fixture().Tree(gittest.File{Path: "main.tf", Content: []byte("x")}))
	r.id["root"] = r.made(r.fixture().Object("commit", []byte("tree "+tree+"\n\nno author\n")))
	r.add("next", "root")
	r.add("tip", "next")
	r.ref("refs/heads/main", "tip")
	for client, fetcher := range testenv.SampleMap(gitClients, "in process") {
		want, by := getmodules.Reachable, "refs/heads/main"
		if client == "git" {
			want, by = getmodules.ReachUnknown, ""
		}
		wantReach(t, client, fetcher(t), s.address(r.gitRepo, "ref=main"), r.id["next"], want, by, getmodules.ErrNoHistory)
	}
}

// TestShortCommitRefusedFilter resolves an abbreviated commit on servers that refuse filters.
func TestShortCommitRefusedFilter(t *testing.T) {
	t.Parallel()
	for _, allowed := range []string{"", "blob:none"} {
		s := newGitServer(t)
		r := reachWorld(t, s.root, "net.git")
		id := r.id["m2"]
		r.git("", "config", "uploadpackfilter.allow", "false")
		if allowed != "" {
			r.git("", "config", "uploadpackfilter."+allowed+".allow", "true")
		}
		for client, fetcher := range testenv.SampleMap(gitClients, "in process") {
			got, err := fetcher(t).Reference(t.Context(), getmodules.Request{Package: s.address(r.gitRepo, "ref="+id[:12])})
			want := getmodules.Reference{Kind: getmodules.ReferenceCommit, Name: id, Revision: id}
			if client == "built in" {
				if !errors.Is(err, getmodules.ErrBuiltInGit) {
					t.Errorf("without git: %v, want ErrBuiltInGit", err)
				}
			} else if got != want || err != nil {
				t.Errorf("%s, allowed %q: Reference = %v, %v; want %v", client, allowed, got, err, want)
			}
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
	for client, fetcher := range testenv.SampleMap(gitClients, "in process") {
		for name, id := range r.id {
			want, by := getmodules.Reachable, "refs/heads/main"
			if strings.HasPrefix(name, "forged") {
				want, by = getmodules.Unreachable, ""
			}
			wantReach(t, client+": "+name, fetcher(t), s.address(r.gitRepo, "ref=main"), id, want, by, nil)
		}
	}
}

// TestReachableShallow uses a repository that is a shallow clone.
func TestReachableShallow(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newReachRepo(t, s.root, "whole.git")
	line := r.line(20)
	dir := filepath.Join(s.root, "net.git")
	r.git("", "clone", "--quiet", "--bare", "--depth=5", "file://"+filepath.ToSlash(r.dir), dir)
	shallow := &reachRepo{gitRepo: &gitRepo{t: t, dir: dir, git: testenv.Git(t, "", "GIT_DIR="+dir)}, id: map[string]string{"l18": line[18]}, date: r.date}
	shallow.git("", "config", "uploadpack.allowFilter", "true")
	forged := shallow.add("forged", "l18")
	for client, fetcher := range testenv.SampleMap(gitClients, "in process") {
		for _, oldProtocol := range []bool{false, true} {
			if oldProtocol && client == "built in" {
				continue // it needs git
			}
			server := newGitServer(t)
			server.root, server.oldProtocol = s.root, oldProtocol
			at, what := server.address(shallow.gitRepo, "ref=main"), fmt.Sprintf("%s, old %v: ", client, oldProtocol)
			wantReach(t, what+"present", fetcher(t), at, line[17], getmodules.Reachable, "refs/heads/main", nil)
			wantReach(t, what+"boundary", fetcher(t), at, line[15], getmodules.Reachable, "refs/heads/main", nil)
			wantReach(t, what+"forged", fetcher(t), at, forged, getmodules.ReachUnknown, "", getmodules.ErrIncompleteHistory)
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
	for client, fetcher := range testenv.SampleMap(gitClients, "in process") {
		if client == "built in" {
			continue // does not read such repositories at all
		}
		at := addrs.ParseModulePackage("git::" + dumb.URL + "/net.git?ref=main")
		wantReach(t, client+": tip", fetcher(t), at, r.id["m5"], getmodules.Reachable, "refs/heads/main", nil)
		wantReach(t, client+": m2", fetcher(t), at, r.id["m2"], getmodules.Reachable, "refs/heads/main", nil)
		wantReach(t, client+": forced", fetcher(t), at, r.id["forced"], getmodules.Unreachable, "", nil)
	}
}

func TestReachableSHA256(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := reachWorld(t, s.root, "net.git", "--object-format=sha256")
	r.id["none"] = strings.Repeat("1", 64)
	reachTogether(t, gitClients["in process"](t), r, s.address(r.gitRepo, "").String(), true)
	id := r.id["m2"]
	if _, err := gitClients["built in"](t).Reachable(t.Context(), getmodules.Request{Package: s.address(r.gitRepo, ""), Revision: id}); !errors.Is(err, getmodules.ErrBuiltInGit) {
		t.Errorf("built-in: %v, want ErrBuiltInGit", err)
	}
}

func TestReachableEmpty(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newReachRepo(t, s.root, "net.git")
	id := r.add("forged")
	for client, fetcher := range testenv.SampleMap(gitClients, "in process") {
		got, err := fetcher(t).Reachable(t.Context(), getmodules.Request{Package: s.address(r.gitRepo, ""), Revision: id})
		if client == "built in" {
			if !errors.Is(err, getmodules.ErrBuiltInGit) { // a server that misunderstands the request lists no refs either
				t.Errorf("without git: %v, want ErrBuiltInGit", err)
			}
			continue
		}
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
	for client, fetcher := range testenv.SampleMap(gitClients, "in process") {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			cancel()
		}()
		_, err := fetcher(t).Reachable(ctx, getmodules.Request{Package: addrs.ParseModulePackage("git::" + slow.URL + "/net.git"), Revision: r.id["m2"]})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: canceled: %v", client, err)
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
