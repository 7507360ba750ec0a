package gittest_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git/gittest"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestChangedRepository lists the refs after each change to a repository and checks that
// the answer is up to date. A repeated request without a change must give the same answer.
func TestChangedRepository(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}
	repo := filepath.Join(root, "r.git")
	run := testenv.Git(t, root, "GIT_DIR="+repo)
	handler := &gittest.Handler{Git: git, Root: root, Env: env}
	listRefs := func() string {
		r := httptest.NewRequest("POST", "/r.git/git-upload-pack", strings.NewReader("0014command=ls-refs\n0000"))
		r.Header.Set("Content-Type", "application/x-git-upload-pack-request")
		r.Header.Set("Git-Protocol", "version=2")
		w := httptest.NewRecorder()
		handler.Serve(w, r, "r.git/git-upload-pack")
		return w.Body.String()
	}
	run("", "init", "--quiet", "--bare", "--initial-branch=main")
	run("commit refs/heads/main\ncommitter a <a@example.com> 0 +0000\ndata 1\nx\n\n", "fast-import", "--quiet")
	before := listRefs()
	for _, change := range [][]string{
		{"update-ref", "refs/heads/other", "refs/heads/main"},
		{"pack-refs", "--all"},
		{"update-ref", "-d", "refs/heads/other"},
		{"symbolic-ref", "HEAD", "refs/heads/none"},
		{"config", "transfer.hideRefs", "refs/heads"},
	} {
		run("", change...)
		after := listRefs()
		if packed := change[0] == "pack-refs"; (after == before) != packed {
			t.Errorf("after git %v the refs are %q", change, after)
		}
		if again := listRefs(); again != after {
			t.Errorf("asked again: %q, want %q", again, after)
		}
		before = after
	}
}
