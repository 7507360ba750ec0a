package gitexec_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/testenv"
)

// fakeGit writes a script that stands in for git and returns its path. It answers
// "version", and "config" with ssh if that is not empty. For everything else it runs the
// shell script in body.
func fakeGit(t *testing.T, ssh, body string) string {
	t.Helper()
	config := "exit 0"
	if ssh != "" {
		config = `printf 'core.sshcommand\n%s\0' '` + ssh + "'; exit 0"
	}
	return script(t, t.TempDir(), "git", `
for last; do :; done
case "$last" in
version) echo "git version 2.40.1"; exit 0;;
-z) `+config+`;;
esac
`+body)
}

func script(t *testing.T, dir, name, body string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a stand-in for a program is a shell script, and /bin/sh is not there")
	}
	path := filepath.Join(dir, name)
	testenv.WriteProgram(t, path, "#!/bin/sh\n"+body+"\n")
	return path
}

// env returns an environment with PATH and the extra variables.
func env(extra ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH")}, extra...)
}

// run runs the fake git with these arguments and returns its output.
func run(t *testing.T, g *gitexec.Git, c gitexec.Command) string {
	t.Helper()
	out, err := g.Output(t.Context(), c, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
