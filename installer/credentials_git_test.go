package installer_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// gitToken is the password of the private repository.
const gitToken = "canary-of-the-git-token"

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
	world := modtest.NewWith(t, modtest.Txtar("-- git/net.git/v1.0.0/main.tf --\n# private\n"), modtest.Options{GitUser: "oauth2", GitPassword: gitToken})
	repository := world.PlainURL() + "/git/net.git"
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
			dir := writeProject(t, map[string]string{"main.tf": calls("net=git::" + repository + "?ref=v1.0.0")}, "")
			wrong := &gitLogin{token: "canary-of-another-token"}
			err := install(dir, wrong)
			if !errors.Is(err, getmodules.ErrAuthentication) || strings.Contains(err.Error(), "canary") {
				t.Errorf("with a wrong token: %v, want ErrAuthentication without the token", err)
			}
			right := &gitLogin{token: gitToken}
			testenv.Must(t, install(dir, right))
			if len(right.asked) == 0 || right.asked[0] != repository {
				t.Errorf("credentials were asked for %q", right.asked)
			}
			if got := fileIn(t, dir, ".terraform/modules/net/main.tf"); got != "# private\n" {
				t.Errorf("installed is %q", got)
			}
			if strings.Contains(messages.String(), "canary") {
				t.Errorf("a warning has the token: %s", messages.String())
			}
			for _, place := range []string{home, dir} {
				for name, content := range testenv.Files(t, place) {
					if strings.Contains(content, "canary") {
						t.Errorf("%s has the token", name)
					}
				}
			}
			if _, err := os.Stat(trace); (err == nil) != (backend == getmodules.GitInstalled) {
				t.Errorf("git's trace: %v", err)
			}
		})
	}
}
