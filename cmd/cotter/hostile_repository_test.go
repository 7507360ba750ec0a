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

// hostileRepository is a git repository whose configuration runs a canary.
type hostileRepository struct {
	top    string
	env    []string
	canary string // written by the canary
}

// plantRepository makes a directory a git repository with the files that it has, and changes
// one of them after the commit.
func plantRepository(t *testing.T, s *hostileSite, top string) *hostileRepository {
	t.Helper()
	needCommands(t, "git")
	r := &hostileRepository{top: top, canary: filepath.Join(s.home, "canary")}
	r.env = append(s.environment(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	writeText(t, filepath.Join(top, ".gitignore"), ".terraform/\n/cache\n/state\n/home\n/tmp\n/outside\n/other\n/saved\n/git\n")
	for _, args := range []string{"init -q", "add .", "commit -q -m one"} {
		if out, err := r.git(strings.Fields(args)...); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	program := filepath.Join(s.home, "canary.sh")
	writeText(t, program, fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>%s\ncat\n", r.canary))
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
		writeText(t, filepath.Join(top, ".git", name), text)
	}
	for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor-watchman"} {
		name := filepath.Join(top, ".git/hooks", hook)
		writeText(t, name, string(readFile(t, program)))
		testenv.Must(t, os.Chmod(name, 0o755))
	}
	testenv.Must(t, os.Chmod(program, 0o755))
	s.write(t, "main.tf", string(readFile(t, s.locate("main.tf")))+"# changed\n")
	// With these files the canary sings for git.
	_, _ = r.git("diff", "HEAD")
	r.wantSong(t)
	return r
}

func (r *hostileRepository) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.top, r.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// wantSong fails the test if the canary did not run, and forgets that it did.
func (r *hostileRepository) wantSong(t *testing.T) {
	t.Helper()
	if err := os.Remove(r.canary); err != nil {
		t.Fatalf("git does not run the canary: %v", err)
	}
}

func (r *hostileRepository) wantSilence(t *testing.T, command string, end ending) {
	t.Helper()
	if text, err := os.ReadFile(r.canary); err == nil {
		t.Errorf("cotter %s ran a program of the repository: %s\n%s", command, text, end.out)
		_ = os.Remove(r.canary)
	}
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

// TestHostileRepository runs commands in a repository of the user's own, whose configuration
// and attributes run programs.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	s := newHostileSite(t)
	r := plantRepository(t, s, s.project)
	for _, command := range testenv.Sample(repositoryCommands) {
		end := s.run(command)
		r.wantSilence(t, command, end)
		if end.status != 0 && !strings.HasPrefix(command, "mirror") && command != "lock --offline" {
			t.Errorf("cotter %s: status %d\n%s", command, end.status, end.out)
		}
	}

	// The lock in the last commit, with nothing installed.
	hostileStates["dropped"](t, s)
	dropInstalled(t, s)
	for _, command := range []string{"install --dry-run", "verify"} {
		end := s.run(command)
		r.wantSilence(t, command, end)
		if !strings.Contains(end.out, "commit ") {
			t.Errorf("cotter %s does not find the lock in the history: status %d\n%s", command, end.status, end.out)
		}
	}
	end := s.run("lock --offline")
	r.wantSilence(t, "lock --offline", end)
	if end.status != 0 || !strings.Contains(end.out, "git show HEAD:") {
		t.Errorf("cotter lock --offline: status %d\n%s", end.status, end.out)
	}

	// Git is used for the modules.
	remove(t, s.cache)
	end = s.run("install", installedGit...)
	r.wantSilence(t, "install with git", end)
	if end.status != 0 {
		t.Errorf("cotter install with git: status %d\n%s", end.status, end.out)
	}

	// An object is missing, which git would fetch from the promisor remote.
	blob, err := exec.Command("git", "--git-dir="+filepath.Join(s.project, ".git"), "rev-parse", "HEAD:"+lockFile).Output()
	testenv.Must(t, err)
	id := strings.TrimSpace(string(blob))
	remove(t, filepath.Join(s.project, ".git/objects", id[:2], id[2:]))
	hostileStates["dropped"](t, s)
	dropInstalled(t, s)
	for _, command := range []string{"diff HEAD", "verify --since HEAD", "verify", "lock --offline"} {
		r.wantSilence(t, command, s.run(command))
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
		end := s.run(command)
		r.wantSilence(t, command, end)
		uses := strings.Contains(command, "--since") || strings.HasPrefix(command, "diff")
		if refused := strings.Contains(end.out, refuse) && strings.Contains(end.out, remedy); refused != uses {
			t.Errorf("cotter %s is refused: %v, want %v; status %d\n%s", command, refused, uses, end.status, end.out)
		}
		if (end.status == 0) == uses && command != "lock --offline" {
			t.Errorf("cotter %s: status %d\n%s", command, end.status, end.out)
		}
	}

	hostileStates["dropped"](t, s)
	dropInstalled(t, s)
	for _, command := range []string{"install --dry-run", "verify"} {
		end := s.run(command)
		r.wantSilence(t, command, end)
		if strings.Count(end.out, refuse) != 1 || strings.Contains(end.out, "commit ") {
			t.Errorf("cotter %s uses the repository: status %d\n%s", command, end.status, end.out)
		}
	}
	end := s.run("lock --offline")
	r.wantSilence(t, "lock --offline", end)
	for _, want := range []string{refuse, "add its directory to `safe.directory`", "there are no entries to restore"} {
		if end.status == 0 || strings.Count(end.out, want) != 1 {
			t.Errorf("cotter lock --offline: status %d, want one %q\n%s", end.status, want, end.out)
		}
	}

	safe := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=" + s.base}
	sudo := []string{fmt.Sprintf("SUDO_UID=%d", other)}
	for _, env := range [][]string{safe, sudo} {
		for _, command := range []string{"lock --offline", "install --since HEAD", "verify --since HEAD", "diff HEAD"} {
			if command == "lock --offline" {
				hostileStates["dropped"](t, s)
				dropInstalled(t, s)
			}
			end := s.run(command, env...)
			r.wantSilence(t, command, end)
			if end.status != 0 || strings.Contains(end.out, refuse) {
				t.Errorf("%s cotter %s: status %d\n%s", env, command, end.status, end.out)
			}
		}
	}
}
