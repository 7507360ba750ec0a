//go:build unix

package gitdir_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/testenv"
)

// Two users who are not root. They need no names.
const (
	alice = 61001
	bob   = 61002
)

// owners are the users to whom the parts of a repository belong.
type owners struct{ top, gitDir, gitFile int }

func of(uid int) owners { return owners{uid, uid, uid} }

var ownerTests = []struct {
	name   string
	as     int
	owners owners
	file   bool     // .git is a file
	config string   // ~/.gitconfig
	more   string   // ~/more
	own    string   // the repository's configuration
	env    []string // TOP and HOME stand for the directories
	want   bool
	since  string // the first git with this behavior
}{
	{name: "own", as: alice, owners: of(alice), want: true},
	{name: "root's own", as: 0, owners: of(0), want: true},
	{name: "of another user", as: alice, owners: of(bob)},
	{name: "root in that of a user", as: 0, owners: of(bob)},
	{name: "of root", as: alice, owners: of(0)},
	{name: "foreign git directory", as: alice, owners: owners{alice, bob, alice}},
	{name: "foreign checkout", as: alice, owners: owners{bob, alice, alice}},
	{name: "own with a file", as: alice, owners: of(alice), file: true, want: true},
	{name: "foreign file", as: alice, owners: owners{alice, alice, bob}, file: true},
	{name: "foreign git directory of a file", as: alice, owners: owners{alice, bob, alice}, file: true},
	{name: "sudo", as: 0, owners: of(alice), env: []string{fmt.Sprint("SUDO_UID=", alice)}, want: true},
	{name: "sudo by another user", as: 0, owners: of(alice), env: []string{fmt.Sprint("SUDO_UID=", bob)}},
	{name: "sudo in root's own", as: 0, owners: of(0), env: []string{fmt.Sprint("SUDO_UID=", bob)}, want: true},
	{name: "sudo without a number", as: 0, owners: of(alice), env: []string{"SUDO_UID=61001x"}},
	{name: "empty SUDO_UID", as: 0, owners: of(alice), env: []string{"SUDO_UID="}},
	{name: "SUDO_UID of a user", as: alice, owners: of(bob), env: []string{fmt.Sprint("SUDO_UID=", bob)}},
	{name: "partly root's under sudo", as: 0, owners: owners{0, alice, 0}, env: []string{fmt.Sprint("SUDO_UID=", alice)}, want: true},
	{name: "safe", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = TOP\n", want: true},
	{name: "safe for a user", as: alice, owners: of(bob), config: "[safe]\n\tdirectory = TOP\n", want: true},
	{name: "safe with a file", as: alice, owners: owners{alice, alice, bob}, file: true, config: "[safe]\n\tdirectory = TOP\n", want: true},
	{name: "git directory as the value", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = TOP/.git\n"},
	{name: "all safe", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = *\n", want: true},
	{name: "another one safe", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = TOP2\n"},
	{name: "directory above is safe", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = TOP/..\n"},
	{name: "all below a directory", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = HOME/*\n", want: true, since: "2.46"},
	{name: "all below the root", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = /*\n", want: true, since: "2.46"},
	{name: "all below itself", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = TOP/*\n"},
	{name: "part of a name", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = HOME/che*\n"},
	{name: "home", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = ~/checkout\n", want: true},
	{name: "relative", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = checkout\n"},
	{name: "link", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = HOME/link\n", want: true, since: "2.46"},
	{name: "reset", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = *\n\tdirectory =\n"},
	{name: "reset without a value", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = *\n\tdirectory\n"},
	{name: "after a reset", as: 0, owners: of(bob), config: "[safe]\n\tdirectory =\n\tdirectory = TOP\n", want: true},
	{name: "the repository's own configuration", as: 0, owners: of(bob), own: "[safe]\n\tdirectory = *\n"},
	{name: "command", as: 0, owners: of(bob), env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=TOP"}, want: true},
	{name: "reset by the command", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = TOP\n", env: []string{"GIT_CONFIG_PARAMETERS='safe.directory'=''"}},
	{name: "git -c", as: 0, owners: of(bob), env: []string{"GIT_CONFIG_PARAMETERS='core.x=1' 'safe.directory'='TOP'"}, want: true},
	{name: "global file of its own", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = *\n", env: []string{"GIT_CONFIG_GLOBAL=/dev/null"}},
	{name: "empty name of the global file", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = *\n", env: []string{"GIT_CONFIG_GLOBAL="}},
	{name: "relative path of this directory", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = checkout/\n"},
	{name: "path that is not clean", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = HOME/../checkout\n"},
	{name: "unknown user", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = ~no-such-user-here/x\n\tdirectory = *\n"},
	{name: "included file", as: 0, owners: of(bob), config: "[include]\n\tpath = more\n", more: "[safe]\n\tdirectory = TOP\n", want: true},
	{name: "file included on a condition", as: 0, owners: of(bob), config: "[includeIf \"gitdir:/\"]\n\tpath = more\n", more: "[safe]\n\tdirectory = TOP\n"},
	{name: "broken included file", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = *\n[include]\n\tpath = more\n", more: "[\n"},
	{name: "wrong number of variables", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = *\n", env: []string{"GIT_CONFIG_COUNT=x"}},
	{name: "file of git config", as: 0, owners: of(bob), env: []string{"GIT_CONFIG=HOME/more"}, more: "[safe]\n\tdirectory = *\n"},
	{name: "broken configuration", as: 0, owners: of(bob), config: "[safe]\n\tdirectory = *\n[broken\n"},
}

// TestOwners compares the rule with git, which is run as the same user in the same repository.
func TestOwners(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can create repositories of other users")
	}
	git, binary := testenv.Git(t, ""), binaryFor(t, openDir(t))
	version := git("", "version")
	for _, test := range ownerTests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := openDir(t)
			top := filepath.Join(home, "checkout")
			fill := strings.NewReplacer("TOP", top, "HOME", home)
			gitDir := filepath.Join(top, ".git")
			create := []string{"init", "-q", top}
			if test.file {
				gitDir = filepath.Join(home, "separate.git")
				create = append(create, "--separate-git-dir="+gitDir)
			}
			git("", create...)
			if err := os.Lchown(filepath.Join(top, ".git"), test.owners.gitFile, 0); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.Symlink("checkout", filepath.Join(home, "link")), os.Lchown(top, test.owners.top, 0), os.Lchown(gitDir, test.owners.gitDir, 0)); err != nil {
				t.Fatal(err)
			}
			appendFile(t, filepath.Join(home, ".gitconfig"), fill.Replace(test.config))
			appendFile(t, filepath.Join(home, "more"), fill.Replace(test.more))
			appendFile(t, filepath.Join(gitDir, "config"), test.own)
			below := filepath.Join(top, "below")
			if err := os.Mkdir(below, 0o755); err != nil { //nolint:gosec // other users enter it
				t.Fatal(err)
			}
			env := append(plainEnv(home), "GIT_CONFIG_NOSYSTEM=1")
			for _, variable := range test.env {
				env = append(env, fill.Replace(variable))
			}
			if test.since == "" || atLeast(t, version, test.since) {
				command := exec.Command("git", "-C", below, "rev-parse", "--git-dir") //nolint:gosec // see above
				if ok, text := runAs(t, test.as, env, command); ok != test.want {
					t.Errorf("git allows it: %v, want %v\n%s", ok, test.want, text)
				}
			}
			command := exec.Command(binary) //nolint:gosec // this test
			ok, text := runAs(t, test.as, append(env, checkDir+"="+below), command)
			if ok != test.want {
				t.Errorf("Check allows it: %v, want %v\n%s", ok, test.want, text)
			}
			if state := command.ProcessState.ExitCode(); !ok && state != refused {
				t.Errorf("exit status %d, want %d\n%s", state, refused, text)
			}
		})
	}
}

// openDir returns a directory that all users can enter.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(testenv.EnterableDir(t))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// binaryFor copies the test binary to a place where all users can run it.
func binaryFor(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "gitdir.test")
	testenv.WriteProgram(t, name, string(content))
	return name
}

// runAs runs a command as a user and reports whether it succeeded.
func runAs(t *testing.T, uid int, env []string, command *exec.Cmd) (ok bool, output string) {
	t.Helper()
	var out bytes.Buffer
	command.Env, command.Stdout, command.Stderr = env, &out, &out
	command.Dir = "/"
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}} //nolint:gosec // small numbers
	err := command.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return err == nil, out.String()
}

// TestOwnerError tests what the error says.
func TestOwnerError(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can create repositories of other users")
	}
	top := openDir(t)
	testenv.Git(t, top)("", "init", "-q")
	if err := os.Chown(filepath.Join(top, ".git"), bob, 0); err != nil {
		t.Fatal(err)
	}
	repo, err := gitdir.Find(top)
	if err != nil {
		t.Fatal(err)
	}
	err = gitdir.Check(repo, plainEnv(top))
	refused, ok := errors.AsType[*gitdir.OwnerError](err)
	if !ok || refused.Top != top || refused.Path != filepath.Join(top, ".git") || refused.Owner != "61002" {
		t.Fatalf("Check: %#v", err)
	}
}
