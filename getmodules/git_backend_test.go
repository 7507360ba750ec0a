package getmodules_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// TestGitClient checks which client would fetch a repository, and the reason for it.
func TestGitClient(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	withGit := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	const plain = "git::https://git.example.com/net.git?ref=v1"
	for name, test := range map[string]struct {
		address string
		fetcher *getmodules.Fetcher
		want    getmodules.GitClient
	}{
		"plain":  {plain, &getmodules.Fetcher{Git: getmodules.Git{Env: withGit}}, getmodules.GitClient{InProcess: true}},
		"no git": {plain, &getmodules.Fetcher{Git: getmodules.Git{Env: []string{"PATH=", "GIT_CONFIG_NOSYSTEM=1"}}}, getmodules.GitClient{InProcess: true, Alone: true}},
		"ssh":    {"git::ssh://git@git.example.com/net.git", &getmodules.Fetcher{Git: getmodules.Git{Env: withGit}}, getmodules.GitClient{InProcess: true, SSH: true}},
		"other ssh": {"git::ssh://git@git.example.com/net.git", &getmodules.Fetcher{Git: getmodules.Git{Env: append([]string{"GIT_SSH=plink"}, withGit...)}},
			getmodules.GitClient{SSH: true, Reason: "the ssh program of git's settings is not OpenSSH"}},
		"ssh of a rule": {plain, &getmodules.Fetcher{Git: getmodules.Git{Env: append([]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.git@git.example.com:.insteadOf", "GIT_CONFIG_VALUE_0=https://git.example.com/"}, withGit...)}},
			getmodules.GitClient{InProcess: true, SSH: true}},
		"credentials": {"git::https://u:p@git.example.com/net.git", &getmodules.Fetcher{Git: getmodules.Git{Env: withGit}}, getmodules.GitClient{InProcess: true}},
		"header": {plain, &getmodules.Fetcher{Git: getmodules.Git{Env: append([]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader", "GIT_CONFIG_VALUE_0=a: b"}, withGit...)}},
			getmodules.GitClient{InProcess: true}},
		"cookies": {plain, &getmodules.Fetcher{Git: getmodules.Git{Env: append([]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.cookieFile", "GIT_CONFIG_VALUE_0=a"}, withGit...)}},
			getmodules.GitClient{Reason: "git has a setting for it: http.cookiefile"}},
		"always": {plain, &getmodules.Fetcher{AlwaysGit: true}, getmodules.GitClient{Reason: "git is set for all repositories"}},
		"alone":  {plain, &getmodules.Fetcher{GitBackend: getmodules.GitBuiltIn}, getmodules.GitClient{InProcess: true, Alone: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := test.fetcher.GitClient(t.Context(), addrs.ParseModulePackage(test.address))
			if got != test.want || err != nil {
				t.Errorf("GitClient = %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}
