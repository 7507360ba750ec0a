package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Git returns a function that runs the installed git in a directory, and returns its output without the space
// around it. The settings of the user and the machine do not count; extra variables do. Without git, the test is
// skipped.
func Git(t interface {
	Helper()
	TempDir() string
	Skip(args ...any)
	Fatal(args ...any)
}, dir string, extra ...string) func(stdin string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	env := append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
	}, extra...)
	return func(stdin string, args ...string) string {
		t.Helper()
		var failure strings.Builder
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = dir, env, strings.NewReader(stdin), &failure
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(fmt.Sprintf("git %s: %v\n%s", args, err, failure.String()))
		}
		return strings.TrimSpace(string(out))
	}
}
