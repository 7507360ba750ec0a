package getmodules_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
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
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gittest"
	"github.com/cotterpin/cotter/internal/testenv"
)

// gitServer serves the repositories below root.
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

func newGitServer(t testing.TB) *gitServer {
	t.Helper()
	git := testenv.Program(t, "git")
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
		if s.oldProtocol {
			r.Header.Del("Git-Protocol")
		}
		h := &gittest.Handler{Git: git, Root: s.root, Env: []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "HOME=" + s.root}}
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

// local is address for a client. The git program fetches from the directory of the server, because the program for http
// takes longer to start than all others of a fetch; tests of requests do not use it.
func (s *gitServer) local(client string, repo *gitRepo, query string) addrs.ModulePackage {
	pkg := s.address(repo, query)
	if client == "git" {
		return addrs.ParseModulePackage(strings.Replace(pkg.String(), s.URL, "file://"+s.root, 1))
	}
	return pkg
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

func gitScript(t testing.TB, path, body string) {
	t.Helper()
	testenv.WriteProgram(t, path, "#!/bin/sh\n"+body+"\n")
}

// wrappedGit returns the path of a program "git" that runs a script and then the installed git.
func wrappedGit(t testing.TB, script string) string {
	t.Helper()
	git := testenv.Program(t, "git")
	path := filepath.Join(t.TempDir(), "git")
	gitScript(t, path, script+"\nexec "+git+` "$@"`)
	return path
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
	return &getmodules.Fetcher{GitBackend: getmodules.GitInstalled, CacheDir: t.TempDir(), Git: getmodules.Git{Env: gitEnv(t, env...)}}
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
	testenv.Must(t, err)
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

// gitRepo is a bare repository to fetch from.
type gitRepo struct {
	t   testing.TB
	dir string
	// git runs git in the repository and returns its output.
	git    func(stdin string, args ...string) string
	sha256 bool // objects have SHA-256 names
}

// gitFile is a file of a commit. An empty mode means a regular file.
type gitFile struct{ path, mode, content string }

func newGitRepo(t testing.TB, root, name string, initArgs ...string) *gitRepo {
	t.Helper()
	dir := filepath.Join(root, name)
	r := &gitRepo{t: t, dir: dir, git: testenv.Git(t, "", "GIT_DIR="+dir), sha256: slices.Contains(initArgs, "--object-format=sha256")}
	testenv.InitGit(t, dir, append([]string{"--bare", "--initial-branch=main"}, initArgs...)...)
	config, err := os.OpenFile(filepath.Join(dir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	testenv.Must(t, err)
	_, err = config.WriteString("[uploadpack]\n\tallowFilter = true\n")
	testenv.Must(t, errors.Join(err, config.Close()))
	return r
}

// head returns the commit that a ref points to, or an empty string if the ref does not
// exist.
func (r *gitRepo) head(ref string) string {
	r.t.Helper()
	if text, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(ref))); err == nil {
		return strings.TrimSpace(string(text))
	}
	if _, err := os.Stat(filepath.Join(r.dir, "packed-refs")); err != nil {
		return ""
	}
	return r.git("", "for-each-ref", "--format=%(objectname)", ref)
}

// gitBy is the author and committer of all commits and the tagger of all tags.
const gitBy = "a <a@example.com> 1700000000 +0000"

// fixture returns a writer of objects and refs that does not run git.
func (r *gitRepo) fixture() gittest.Repository {
	return gittest.Repository{Dir: r.dir, SHA256: r.sha256}
}

// made returns id, the name of an object that was written, or fails the test if err is not
// nil.
func (r *gitRepo) made(id string, err error) string {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *gitRepo) commit(branch string, files ...gitFile) string {
	r.t.Helper()
	var all []gittest.File
	for _, f := range files {
		all = append(all, gittest.File{Path: f.path, Mode: f.mode, Content: []byte(f.content)})
	}
	return r.commitTree(git.Heads+branch, "x", r.made(r.fixture().Tree(all...)))
}

func (r *gitRepo) commitTree(ref, message, tree string) string {
	r.t.Helper()
	c := gittest.Commit{Tree: tree, By: gitBy, Message: message}
	if parent := r.head(ref); parent != "" {
		c.Parents = []string{parent}
	}
	return r.setRef(ref, r.made(r.fixture().Commit(c)))
}

// setRef makes a ref point to an object and returns the object's name.
func (r *gitRepo) setRef(ref, id string) string {
	r.t.Helper()
	return r.made(id, r.fixture().SetRef(ref, id))
}

func (r *gitRepo) annotate(tag, commit string) string {
	r.t.Helper()
	return r.made(r.fixture().Tag(gittest.Tag{Name: tag, Object: commit, By: gitBy, Message: "x\n"}))
}

func (r *gitRepo) annotateTag(tag, of string) {
	r.t.Helper()
	r.made(r.fixture().Tag(gittest.Tag{Name: tag, Object: r.head(git.Tags + of), Kind: "tag", By: gitBy, Message: "x\n"}))
}

func (r *gitRepo) rawCommit(branch string, entries ...gittest.Entry) string {
	r.t.Helper()
	return r.setRef(git.Heads+branch, r.made(r.fixture().Commit(gittest.Commit{Tree: r.rawTree(entries...), By: gitBy, Message: "x\n"})))
}

func (r *gitRepo) rawTree(entries ...gittest.Entry) string {
	r.t.Helper()
	return r.made(r.fixture().RawTree(entries...))
}

func treeEntry(mode, name, id string) gittest.Entry {
	return gittest.Entry{Mode: mode, Name: name, ID: id}
}

func (r *gitRepo) blob(content string) string {
	r.t.Helper()
	return r.made(r.fixture().Object("blob", []byte(content)))
}

func gitMainTF(t testing.TB, s *gitServer) (r *gitRepo, first, second string) {
	t.Helper()
	r = newGitRepo(t, s.root, "net.git")
	first = r.commit("main", gitFile{path: "main.tf", content: "# one\n"})
	second = r.commit("main", gitFile{path: "main.tf", content: "# two\n"})
	return r, first, second
}

func gitStoreDir(f *getmodules.Fetcher, remote string) string {
	return filepath.Join(f.CacheDir, "git", fmt.Sprintf("%x", sha256.Sum256([]byte(remote))))
}

// serveByProgram, like inetd, starts a program for each connection to a free port, with the connection as its input
// and output. It returns the address.
func serveByProgram(t testing.TB, command func() *exec.Cmd) string {
	t.Helper()
	return serveConnections(t, func(c net.Conn) { serveConn(t, c, command()) })
}

func serveConnections(t testing.TB, serve func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	running.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { serve(c) })
		}
	})
	return listener.Addr().String()
}

func serveConn(t testing.TB, c net.Conn, cmd *exec.Cmd) {
	defer c.Close()
	file, err := c.(*net.TCPConn).File()
	if err != nil {
		t.Error(err)
		return
	}
	defer file.Close()
	cmd.Stdin, cmd.Stdout = file, file
	_ = cmd.Run() // the client sees its failures
}

// newGitDaemon serves the repositories below root over the git protocol.
func newGitDaemon(t testing.TB, root string) (address string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(testenv.Git(t, root)("", "--exec-path"), "git-daemon")); err != nil {
		t.Skip("git daemon is not installed")
	}
	return serveByProgram(t, func() *exec.Cmd {
		cmd := exec.Command("git", "daemon", "--inetd", "--export-all", "--base-path="+root)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}
		return cmd
	})
}
