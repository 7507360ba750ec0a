package testenv

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing/fstest"
)

type gitTB interface {
	Helper()
	TempDir() string
	Skip(args ...any)
	Fatal(args ...any)
}

// Git returns a function that runs the installed git in a directory, and returns its output without the space
// around it. The settings of the user and the machine do not count; extra variables do. Without git, the test is
// skipped.
func Git(t gitTB, dir string, extra ...string) func(stdin string, args ...string) string {
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
		// After many commands, git would start another one to see whether the repository needs maintenance.
		cmd := exec.Command(program, append([]string{"-c", "maintenance.auto=false"}, args...)...)
		cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = dir, env, strings.NewReader(stdin), &failure
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(fmt.Sprintf("git %s: %v\n%s", args, err, failure.String()))
		}
		return strings.TrimSpace(string(out))
	}
}

// emptyRepositories has what git init writes, by its arguments.
var emptyRepositories sync.Map

// InitGit makes a repository in a new or empty directory with "git init", which it starts once for the same
// arguments. Without git, the test is skipped.
func InitGit(t gitTB, dir string, args ...string) {
	t.Helper()
	key := strings.Join(args, " ")
	files, ok := emptyRepositories.Load(key)
	if !ok {
		made := t.TempDir()
		Git(t, made)("", append([]string{"init", "--quiet", "--template="}, args...)...)
		read := fstest.MapFS{}
		err := fs.WalkDir(os.DirFS(made), ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || name == "." {
				return err
			}
			file := &fstest.MapFile{Mode: entry.Type() | 0o700}
			if entry.Type().IsRegular() {
				file.Data, err = os.ReadFile(filepath.Join(made, filepath.FromSlash(name)))
			}
			read[name] = file
			return err
		})
		Must(t, err)
		files, _ = emptyRepositories.LoadOrStore(key, read)
	}
	Must(t, os.CopyFS(dir, files.(fs.FS)))
}
