package getmodules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// TestGitHostileConfig fetches with a user configuration that starts programs and changes
// files wherever git allows it. The configuration must have no effect.
func TestGitHostileConfig(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	r.commit("main",
		gitFile{path: ".gitattributes", content: "*.tf filter=evil ident eol=crlf\n"},
		gitFile{path: "main.tf", content: "a\n$Id$\n"})
	_, plain, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, "")})
	if err != nil {
		t.Fatal(err)
	}

	home := t.TempDir()
	mark := filepath.Join(home, "ran")
	script := filepath.Join(home, "hook")
	gitScript(t, script, "echo \"$0\" >> "+mark+"\ncat")
	for _, dir := range []string{"hooks", "template/hooks"} {
		for _, hook := range []string{"post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"} {
			path := filepath.Join(home, dir, hook)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(script, path); err != nil {
				t.Fatal(err)
			}
		}
	}
	config := fmt.Sprintf(`[core]
	hooksPath = %[1]s/hooks
	fsmonitor = %[1]s/hook
	autocrlf = true
	pager = %[1]s/hook
	attributesFile = %[1]s/attributes
	sshCommand = %[1]s/hook
	alternateRefsCommand = %[1]s/hook
[init]
	templateDir = %[1]s/template
[filter "evil"]
	smudge = %[1]s/hook
	process = %[1]s/hook
	required = true
[alias]
	fetch = !%[1]s/hook
[gc]
	auto = 1
[fetch]
	fsckObjects = false
	writeCommitGraph = true
	prune = true
[uploadpack]
	packObjectsHook = %[1]s/hook
[diff]
	external = %[1]s/hook
[color]
	ui = always
[protocol "ext"]
	allow = always
`, home)
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newGitFetcher(t, "HOME="+home, "GIT_DIR="+home, "GIT_WORK_TREE="+home, "GIT_NAMESPACE=x", "GIT_OBJECT_DIRECTORY="+home,
		"GIT_TEMPLATE_DIR="+home+"/template", "GIT_EXTERNAL_DIFF="+script, "GIT_DEFAULT_HASH=sha256")
	_, hostile, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=main")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gitContents(t, plain), gitContents(t, hostile)); diff != "" {
		t.Errorf("the configuration changed the tree (-without +with):\n%s", diff)
	}
	if ran, err := os.ReadFile(mark); err == nil {
		t.Errorf("programs of the configuration ran: %s", ran)
	}
}

// gitContents returns the contents of all files of a tree, by path.
func gitContents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range gitFilesBelow(t, dir) {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(dir, path)
		all[rel] = string(body)
	}
	return all
}

func gitScript(t testing.TB, path, body string) {
	t.Helper()
	// The lock keeps a concurrent fork from inheriting the open file: a file that is open
	// for writing cannot be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestGitInsteadOf(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, _, second := gitMainTF(t, s)
	home := t.TempDir()
	config := fmt.Sprintf("[url %q]\n\tinsteadOf = https://git.example.com/team/\n", s.URL+"/")
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	address := addrs.ParseModulePackage("git::https://git.example.com/team/net.git")
	pkg, _, err := fetchGit(t, newGitFetcher(t, "HOME="+home), getmodules.Request{Package: address.WithArg("ref", "main")})
	if err != nil {
		t.Fatal(err)
	}
	if want := address.WithArg("ref", second); pkg.Resolved != want {
		t.Errorf("Resolved = %s, want %s", pkg.Resolved, want)
	}
}
