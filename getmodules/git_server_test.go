package getmodules_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/git/gittest"
)

// gitServer serves the repositories below root with the same answers as git http-backend.
type gitServer struct {
	*httptest.Server
	root string
	// oldProtocol hides the clients' request for protocol version 2.
	oldProtocol bool
	// user and password are required if user is not empty.
	user, password string

	mu       sync.Mutex
	requests []string
}

// gitExecPath is the directory of git's programs.
var gitExecPath = sync.OnceValues(exec.Command("git", "--exec-path").Output)

func newGitServer(t testing.TB) *gitServer {
	t.Helper()
	out, err := gitExecPath()
	if err != nil {
		t.Skip("git is not installed")
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("git http-backend is not installed")
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	s := &gitServer{root: t.TempDir()}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		if user, password, _ := r.BasicAuth(); user != s.user || password != s.password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		env := []string{"PATH=" + os.Getenv("PATH"), "GIT_PROJECT_ROOT=" + s.root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + s.root}
		if s.oldProtocol {
			r.Header.Del("Git-Protocol")
		}
		own := slices.Clone(env)
		if v := r.Header.Get("Git-Protocol"); v != "" {
			own = append(own, "GIT_PROTOCOL="+v)
		}
		h := &gittest.Handler{Git: git, Root: s.root, Env: env, Backend: &cgi.Handler{Path: backend, Env: own, Stderr: io.Discard}}
		h.Serve(w, r, strings.TrimPrefix(r.URL.Path, "/"))
	}))
	t.Cleanup(s.Close)
	return s
}

// count returns the number of requests since the last call.
func (s *gitServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.requests)
	s.requests = nil
	return n
}

// address returns the package address of a repository. query may be empty.
func (s *gitServer) address(repo *gitRepo, query string) addrs.ModulePackage {
	a := "git::" + s.URL + "/" + filepath.Base(repo.dir)
	if query != "" {
		a += "?" + query
	}
	return addrs.ParseModulePackage(a)
}

// gitFront is a server in front of a git server. It records the requests and may change the answers.
type gitFront struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
}

// newGitFront starts a front. answer answers a request, to which the answer of the git server would be truth. The
// git server gets no credentials.
func newGitFront(t testing.TB, behind *gitServer, answer func(w http.ResponseWriter, r *http.Request, truth *httptest.ResponseRecorder)) *gitFront {
	t.Helper()
	f := &gitFront{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r.Clone(context.WithoutCancel(r.Context())))
		f.mu.Unlock()
		asked := r.Clone(r.Context())
		asked.Header.Del("Authorization")
		truth := httptest.NewRecorder()
		behind.Config.Handler.ServeHTTP(truth, asked)
		answer(w, r, truth)
	}))
	t.Cleanup(f.Close)
	return f
}

// newWireFront starts a front that changes only the answers to requests that no git program sends.
func newWireFront(t testing.TB, behind *gitServer, answer func(w http.ResponseWriter, r *http.Request, truth *httptest.ResponseRecorder)) *gitFront {
	t.Helper()
	return newGitFront(t, behind, func(w http.ResponseWriter, r *http.Request, truth *httptest.ResponseRecorder) {
		if isByGit(r) {
			sendTruth(w, r, truth)
		} else {
			answer(w, r, truth)
		}
	})
}

func sendTruth(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
	sendBody(w, truth, truth.Body.Bytes())
}

// sendBody sends body with the status and the headers of another answer.
func sendBody(w http.ResponseWriter, truth *httptest.ResponseRecorder, body []byte) {
	maps.Copy(w.Header(), truth.Header())
	w.WriteHeader(truth.Code)
	_, _ = w.Write(body)
}

func isByGit(r *http.Request) bool { return !strings.Contains(r.UserAgent(), "cotter") }

// take returns the requests since the last call, and the numbers of those that a git program sent and of the others.
func (f *gitFront) take() (requests []*http.Request, byGit, inProcess int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	requests, f.requests = f.requests, nil
	for _, r := range requests {
		if isByGit(r) {
			byGit++
		}
	}
	return requests, byGit, len(requests) - byGit
}

// request returns a request for the repository of gitMainTF.
func (f *gitFront) request(query string) getmodules.Request {
	return getmodules.Request{Package: addrs.ParseModulePackage("git::" + f.URL + "/net.git" + query)}
}

// gitEnv returns an environment that ignores the machine's git configuration.
func gitEnv(t testing.TB, extra ...string) []string {
	t.Helper()
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}, extra...)
}

// newGitFetcher returns a fetcher with a new cache and environment that uses git for
// everything.
func newGitFetcher(t testing.TB, env ...string) *getmodules.Fetcher {
	t.Helper()
	return &getmodules.Fetcher{AlwaysGit: true, CacheDir: t.TempDir(), Git: getmodules.Git{Env: gitEnv(t, env...)}}
}

// newWireFetcher returns a fetcher that uses git only if it has to.
func newWireFetcher(t testing.TB, env ...string) *getmodules.Fetcher {
	t.Helper()
	f := newGitFetcher(t, env...)
	return &getmodules.Fetcher{CacheDir: f.CacheDir, Git: getmodules.Git{Env: f.Git.Env}, Backoff: func(int) time.Duration { return 0 }}
}

// newGitlessFetcher returns a fetcher that has no git to fall back to.
func newGitlessFetcher(t testing.TB) *getmodules.Fetcher {
	t.Helper()
	return &getmodules.Fetcher{CacheDir: t.TempDir(), Git: getmodules.Git{Path: filepath.Join(t.TempDir(), "none"), Env: []string{"GIT_CONFIG_NOSYSTEM=1"}}}
}

// newBuiltInFetcher returns a fetcher that uses the built-in client for everything and has
// no git program.
func newBuiltInFetcher(t testing.TB, env ...string) *getmodules.Fetcher {
	t.Helper()
	f := newAutoFetcher(t, env...)
	f.GitBackend = getmodules.GitBuiltIn
	return f
}

// newAutoFetcher returns a fetcher that has no git program.
func newAutoFetcher(t testing.TB, env ...string) *getmodules.Fetcher {
	t.Helper()
	env = append([]string{"PATH=" + t.TempDir(), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}, env...)
	return &getmodules.Fetcher{CacheDir: t.TempDir(), Git: getmodules.Git{Env: env}}
}

// gitClients are the ways to fetch with git: by the installed program, by our own client with the user's
// settings and the program where it is needed, and by our own client alone.
var gitClients = map[string]func(testing.TB, ...string) *getmodules.Fetcher{"git": newGitFetcher, "in process": newWireFetcher, "built in": newBuiltInFetcher}

// userClients are the gitClients that read the user's configuration.
var userClients = map[string]func(testing.TB, ...string) *getmodules.Fetcher{"git": newGitFetcher, "in process": newWireFetcher}

// fetchGit fetches into a new directory and returns its path.
func fetchGit(t testing.TB, f *getmodules.Fetcher, req getmodules.Request) (*getmodules.Package, string, error) {
	t.Helper()
	return fetchGitIn(t.Context(), t, f, req)
}

func fetchGitIn(ctx context.Context, t testing.TB, f *getmodules.Fetcher, req getmodules.Request) (*getmodules.Package, string, error) {
	t.Helper()
	parent := t.TempDir()
	req.Dir = filepath.Join(parent, "tree")
	pkg, err := f.FetchGit(ctx, req)
	gitWantLeft(t, parent, err == nil)
	return pkg, req.Dir, err
}

// gitWantLeft checks that parent contains only the fetched tree after a success, and
// nothing after an error.
func gitWantLeft(t testing.TB, parent string, success bool) {
	t.Helper()
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := ""
	if success {
		want = "tree"
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("left behind: %q, want %q", got, want)
	}
}
