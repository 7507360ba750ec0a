package gitexec_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestInspect checks that the report on a configuration that contains secrets shows none
// of them.
func TestInspect(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "git")
	config := `[user]
	name = a
[core]
	sshCommand = ssh -i canary
[credential]
	helper = store --file canary
[credential "https://canary@git.example.com"]
	helper = "!f() { echo password=canary; }; f"
[http]
	extraHeader = Authorization: canary
	proxy = http://canary:canary@proxy.example.com:8080
	postBuffer = 1
[http "https://git.example.com"]
	sslVerify = false
[url "https://x-access-token:canary@github.com/"]
	insteadOf = https://canary@github.com/
`
	git := gitexec.Git{Env: userEnv(t, config)}
	got, err := git.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(got.Path) || !strings.Contains(got.Version, ".") || strings.Contains(got.Version, "git") {
		t.Errorf("Inspect has the program %q, version %q", got.Path, got.Version)
	}
	want := []gitexec.Setting{
		{Name: "core.sshcommand"},
		{Name: "credential.helper", Value: "store"},
		{Name: "credential.https://git.example.com.helper", Value: "a shell command"},
		{Name: "http.extraheader"},
		{Name: "http.proxy", Value: "http://proxy.example.com:8080"},
		{Name: "http.https://git.example.com.sslverify", Value: "false"},
		{Name: "url.https://github.com/.insteadof", Value: "https://github.com/"},
	}
	if diff := cmp.Diff(want, got.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	for _, s := range got.Settings {
		if s.TurnsOffVerification() != strings.HasSuffix(s.Name, "sslverify") {
			t.Errorf("TurnsOffVerification of %v", s)
		}
	}
	none := gitexec.Git{Env: []string{"PATH="}}
	if _, err := none.Inspect(t.Context()); !errors.Is(err, gitexec.ErrNoGit) {
		t.Errorf("without a git: %v, want ErrNoGit", err)
	}
}
