//go:build linux || darwin

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/cotterpin/cotter/internal/testenv"
)

// hostileGitConfig names a program wherever git's configuration can, so that it would run as
// part of a command that seems only to read. CANARY is the program.
const hostileGitConfig = `[core]
	repositoryFormatVersion = 1
	fsmonitor = CANARY
	hooksPath = HOOKS
	pager = CANARY
	editor = CANARY
	askPass = CANARY
	sshCommand = CANARY
	gitProxy = CANARY
	alternateRefsCommand = CANARY
	attributesFile = ATTRIBUTES
	untrackedCache = true
[extensions]
	partialClone = origin
[remote "origin"]
	url = ext::CANARY
	uploadpack = CANARY
	promisor = true
[diff]
	external = CANARY
[diff "canary"]
	textconv = CANARY
	command = CANARY
[filter "canary"]
	clean = CANARY
	smudge = CANARY
	required = true
[filter "process"]
	process = CANARY
	required = true
[merge "canary"]
	driver = CANARY
[interactive]
	diffFilter = CANARY
[uploadpack]
	packObjectsHook = CANARY
[credential]
	helper = CANARY
[gpg]
	program = CANARY
[log]
	showSignature = true
[safe]
	directory = *
`

// hostileRepository is a site in a git repository whose configuration runs a canary.
type hostileRepository struct {
	*hostileSite
	top    string
	canary string // written by the canary
}

// plantRepository makes a directory a git repository with the files that it has, and changes
// one of them after the commit.
func plantRepository(t *testing.T, s *hostileSite, top string) *hostileRepository {
	t.Helper()
	needCommands(t, "git")
	r := &hostileRepository{s, top, filepath.Join(s.home, "canary")}
	testenv.WriteFile(t, filepath.Join(top, ".gitignore"), ".terraform/\n/cache\n/state\n/home\n/tmp\n/outside\n/other\n/git\n")
	for _, args := range []string{"init -q", "add .", "commit -q -m one"} {
		if out, err := r.git(strings.Fields(args)...); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	program := filepath.Join(s.home, "canary.sh")
	testenv.WriteFile(t, program, fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>%s\ncat\n", r.canary))
	config := hostileGitConfig
	aliases, pagers := "[alias]\n", "[pager]\n"
	for _, name := range []string{"cat-file", "check-attr", "config", "diff", "ls-files", "ls-tree", "rev-list", "rev-parse", "show", "version"} {
		aliases += fmt.Sprintf("\t%s = !CANARY\n", name)
		pagers += fmt.Sprintf("\t%s = CANARY\n", name)
	}
	attributes := "* filter=canary diff=canary merge=canary text=auto\n*.hcl filter=process\n"
	for name, text := range map[string]string{
		"config": config + aliases + pagers, "info/attributes": attributes, "../.gitattributes": attributes, "../attributes": attributes,
	} {
		text = strings.NewReplacer("CANARY", program, "HOOKS", filepath.Join(top, ".git/hooks"), "ATTRIBUTES", filepath.Join(top, "attributes")).Replace(text)
		testenv.WriteFile(t, filepath.Join(top, ".git", name), text)
	}
	for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor-watchman"} {
		name := filepath.Join(top, ".git/hooks", hook)
		testenv.WriteFile(t, name, string(readFile(t, program)))
		testenv.Must(t, os.Chmod(name, 0o755))
	}
	testenv.Must(t, os.Chmod(program, 0o755))
	s.write(t, "main.tf", string(readFile(t, s.locate("main.tf")))+"# changed\n")
	// With these files the canary sings for git.
	_, _ = r.git("diff", "HEAD")
	if err := os.Remove(r.canary); err != nil {
		t.Fatalf("git does not run the canary: %v", err)
	}
	return r
}

func (r *hostileRepository) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.top
	cmd.Env = append(r.environment(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// anyStatus is the expected status of a command that may fail or not.
const anyStatus = -1

// runs runs a command that must not run the canary, and must tell each text once, or never if it
// begins with "!".
func (r *hostileRepository) runs(t *testing.T, command string, status int, texts []string, env ...string) {
	t.Helper()
	end := r.run(command, env...)
	if text, err := os.ReadFile(r.canary); err == nil {
		t.Errorf("%s cotter %s ran a program of the repository: %s\n%s", env, command, text, end.out)
		remove(t, r.canary)
	}
	if end.status != status && status != anyStatus {
		t.Errorf("%s cotter %s: status %d, want %d\n%s", env, command, end.status, status, end.out)
	}
	for _, text := range texts {
		want := 1
		if text[0] == '!' {
			text, want = text[1:], 0
		}
		if n := strings.Count(end.out, text); n != want {
			t.Errorf("%s cotter %s says %d times, want %d: %q; status %d\n%s", env, command, n, want, text, end.status, end.out)
		}
	}
}

// drop drops what is installed, and the lock's modules.
func (r *hostileRepository) drop(t *testing.T) {
	t.Helper()
	hostileStates["dropped"](t, r.hostileSite)
	dropInstalled(t, r.hostileSite)
}

// chown gives a repository and the checkout's top directory to another user.
func (r *hostileRepository) chown(t *testing.T, uid int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(r.top, ".git"), func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, uid, uid)
	})
	testenv.Must(t, err)
}

// repositoryCommands are commands that look at the repository around the project, or run git in
// its directory.
var repositoryCommands = []string{
	"install --since HEAD", "install --recursive --since HEAD", "install --locked", "install", "lock --since HEAD", "verify --since HEAD", "verify",
	"tree --since HEAD", "tree --evidence", "tree net", "sbom --since HEAD", "outdated --since HEAD", "update --since HEAD", "update",
	"diff HEAD", "diff HEAD HEAD:./" + lockFile, "diff --locks-only HEAD", "doctor", "install", "install --since HEAD",
	"bundle create --since HEAD --only modules --out made.bundle", "cache key --since HEAD", "lock --offline", "mirror push --since HEAD oci://127.0.0.1:1/x", "mirror status --since HEAD oci://127.0.0.1:1/x",
}

// firstWord returns the verb of a command line.
func firstWord(command string) string {
	verb, _, _ := strings.Cut(command, " ")
	return verb
}

// TestHostileRepository runs commands in a repository of the user's own, whose configuration
// and attributes run programs.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	s := newHostileSite(t)
	r := plantRepository(t, s, s.project)
	for _, command := range testenv.Sample(repositoryCommands, firstWord) {
		status := 0
		if strings.HasPrefix(command, "mirror") || command == "lock --offline" {
			status = anyStatus
		}
		r.runs(t, command, status, nil)
	}

	// The lock in the last commit, with nothing installed.
	r.drop(t)
	r.runs(t, "install --dry-run", anyStatus, []string{"commit "})
	r.runs(t, "verify", anyStatus, []string{"commit "})
	r.runs(t, "lock --offline", 0, []string{"git show HEAD:"})

	// Git is used for the modules.
	remove(t, s.cache)
	r.runs(t, "install", 0, nil, installedGit...)

	// An object is missing, which git would fetch from the promisor remote.
	id, err := exec.Command("git", "--git-dir="+filepath.Join(s.project, ".git"), "rev-parse", "HEAD:"+lockFile).Output()
	testenv.Must(t, err)
	remove(t, filepath.Join(s.project, ".git/objects", string(id[:2]), strings.TrimSpace(string(id[2:]))))
	r.drop(t)
	for _, command := range []string{"diff HEAD", "verify --since HEAD", "verify", "lock --offline"} {
		r.runs(t, command, anyStatus, nil)
	}
}

// TestRepositoryCommands tests that the table above has every command with --since.
func TestRepositoryCommands(t *testing.T) {
	t.Parallel()
	var check func(prefix string, commands []*cobra.Command)
	check = func(prefix string, commands []*cobra.Command) {
		for _, c := range commands {
			name := prefix + c.Name()
			check(name+" ", c.Commands())
			covered := strings.Contains(strings.Join(repositoryCommands, "\n")+"\n", name+" ")
			if c.Flags().Lookup("since") != nil && !covered {
				t.Errorf("repositoryCommands has no `%s --since HEAD`", name)
			}
		}
	}
	check("", newApp(&output{}).Commands())
}

// TestForeignRepository runs commands in a project that is below a repository of another user,
// as in /tmp/project below /tmp/.git.
func TestForeignRepository(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can create a repository of another user")
	}
	s := newHostileSite(t)
	r := plantRepository(t, s, s.base)
	const other = 61001
	r.chown(t, other)
	refuse := fmt.Sprintf("the git repository in %s is not used, because %s belongs to another user (%d)", s.base, filepath.Join(s.base, ".git"), other)
	remedy := fmt.Sprintf("run `git config --global --add safe.directory %s`", s.base)

	for _, command := range repositoryCommands {
		switch {
		case strings.Contains(command, "--since") || strings.HasPrefix(command, "diff"):
			r.runs(t, command, 1, []string{refuse, remedy})
		case command == "lock --offline":
			r.runs(t, command, 1, []string{refuse, "!" + remedy})
		default:
			r.runs(t, command, 0, []string{"!" + refuse})
		}
	}

	r.drop(t)
	r.runs(t, "install --dry-run", anyStatus, []string{refuse, "!commit "})
	r.runs(t, "verify", anyStatus, []string{refuse, "!commit "})
	r.runs(t, "lock --offline", 1, []string{refuse, "add its directory to `safe.directory`", "there are no entries to restore"})

	safe := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=" + s.base}
	sudo := []string{fmt.Sprintf("SUDO_UID=%d", other)}
	for _, env := range [][]string{safe, sudo} {
		r.drop(t)
		for _, command := range []string{"lock --offline", "install --since HEAD", "verify --since HEAD", "diff HEAD"} {
			r.runs(t, command, 0, []string{"!" + refuse}, env...)
		}
	}
}
