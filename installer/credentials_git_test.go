package installer_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/git/gittest"
)

// gitToken is the password of the private repository.
const gitToken = "canary-of-the-git-token"

// privateGit serves a repository net.git with the tag v1.0.0 to clients with the user "oauth2" and
// gitToken, and returns the URL of the server.
func privateGit(t *testing.T) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}
	dir := filepath.Join(root, "net.git")
	init := exec.Command(git, "init", "--quiet", "--bare", "--initial-branch=main", dir)
	init.Env = env
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	repo := gittest.Repository{Dir: dir}
	tree, err := repo.Tree(gittest.File{Path: "main.tf", Content: []byte("# private\n")})
	if err != nil {
		t.Fatal(err)
	}
	commit, err := repo.Commit(gittest.Commit{Tree: tree, By: "a <a@example.com> 1700000000 +0000", Message: "net\n"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"refs/heads/main", "refs/tags/v1.0.0"} {
		if err := repo.SetRef(ref, commit); err != nil {
			t.Fatal(err)
		}
	}
	backend := &cgi.Handler{Path: git, Args: []string{"http-backend"}, Env: env}
	handler := &gittest.Handler{Git: git, Root: root, Env: env, Backend: backend}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "oauth2" || password != gitToken {
			w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.Serve(w, r, strings.TrimPrefix(r.URL.Path, "/"))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// gitLogin is an embedder's credentials, which has a token for git servers only.
type gitLogin struct {
	credentials
	token string

	mu    sync.Mutex
	asked []string
}

func (l *gitLogin) GitCredentials(_ context.Context, at *url.URL) (*url.Userinfo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, at.String())
	return url.UserPassword("oauth2", l.token), nil
}

// The credentials of the options are used for private git repositories, by the git program and by
// the built-in client. They are kept nowhere, and appear in no message and no argument.
func TestGitCredentialsOfOptions(t *testing.T) {
	t.Parallel()
	server := privateGit(t)
	for _, backend := range []getmodules.GitBackend{getmodules.GitInstalled, getmodules.GitBuiltIn} {
		t.Run(string(backend), func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			trace := filepath.Join(home, "trace")
			var messages strings.Builder
			install := func(dir string, login *gitLogin) error {
				in := installer.New(installer.Options{
					Credentials: login,
					CacheDir:    filepath.Join(home, "cache"),
					StateDir:    filepath.Join(home, "state"),
					Fetcher: &getmodules.Fetcher{GitBackend: backend, Git: getmodules.Git{
						Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_TRACE=" + trace},
					}},
					OnEvent: func(ev installer.Event) {
						if w, ok := ev.(event.Warning); ok {
							messages.WriteString(w.Message + "\n")
						}
					},
				})
				_, err := in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{})
				return err
			}
			dir := filepath.Join(home, "project")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			text := "module \"net\" {\n  source = \"git::" + server + "/net.git?ref=v1.0.0\"\n}\n"
			if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			wrong := &gitLogin{token: "canary-of-another-token"}
			err := install(dir, wrong)
			if !errors.Is(err, getmodules.ErrAuthentication) || strings.Contains(err.Error(), "canary") {
				t.Errorf("with a wrong token: %v, want ErrAuthentication without the token", err)
			}
			right := &gitLogin{token: gitToken}
			if err := install(dir, right); err != nil {
				t.Fatal(err)
			}
			if len(right.asked) == 0 || right.asked[0] != server+"/net.git" {
				t.Errorf("credentials were asked for %q", right.asked)
			}
			if got, err := os.ReadFile(filepath.Join(dir, ".terraform/modules/net/main.tf")); string(got) != "# private\n" {
				t.Errorf("installed is %q, %v", got, err)
			}
			if strings.Contains(messages.String(), "canary") {
				t.Errorf("a warning has the token: %s", messages.String())
			}
			err = filepath.WalkDir(home, func(name string, entry fs.DirEntry, err error) error {
				if err != nil || !entry.Type().IsRegular() {
					return err
				}
				content, err := os.ReadFile(name)
				if strings.Contains(string(content), "canary") {
					t.Errorf("%s has the token", name)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(trace); (err == nil) != (backend == getmodules.GitInstalled) {
				t.Errorf("git's trace: %v", err)
			}
		})
	}
}
