package inprocess_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/inprocess"
)

// runGit runs git without the machine's configuration and returns its output.
func runGit(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, &stderr)
	}
	return string(out)
}

// workingTree makes a repository with packed and loose objects and a tag, and returns its
// path.
func workingTree(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	runGit(t, "", "init", "--quiet", "--initial-branch=main", dir)
	for _, message := range []string{"one", "two", "three"} {
		if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(strings.Repeat(message+"\n", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
		runGit(t, "", "-C", dir, "add", ".")
		runGit(t, "", "-C", dir, "commit", "--quiet", "-m", message)
		if message == "two" {
			runGit(t, "", "-C", dir, "tag", "-a", "-m", "x", "v2")
			runGit(t, "", "-C", dir, "gc", "--quiet")
		}
	}
	return dir
}

// TestObjects compares the objects of a repository with the output of git cat-file
// --batch.
func TestObjects(t *testing.T) {
	t.Parallel()
	dir := workingTree(t)
	local, err := inprocess.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	objects, err := local.Fetch(t.Context(), inprocess.Want{})
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(runGit(t, "", "-C", dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	for _, name := range names {
		names = append(names, name+"^{commit}")
	}
	head := strings.TrimSpace(runGit(t, "", "-C", dir, "rev-parse", "HEAD"))
	names = append(names, head[:4]+"^{commit}", head[:7]+"^{commit}", head[:39]+"^{commit}", someID, someID+"^{commit}", "dead^{commit}")
	want := runGit(t, strings.Join(names, "\n")+"\n", "-C", dir, "cat-file", "--batch")
	if diff := cmp.Diff(want, ask(t, objects, names...)); diff != "" {
		t.Errorf("answers (-git +ours):\n%s", diff)
	}
}

func TestOpenLocal(t *testing.T) {
	t.Parallel()
	dir := workingTree(t)
	head := strings.TrimSpace(runGit(t, "", "-C", dir, "rev-parse", "HEAD"))
	parent := t.TempDir()
	bare := filepath.Join(parent, "bare.git")
	runGit(t, "", "clone", "--quiet", "--bare", dir, bare)
	linked := filepath.Join(parent, "linked")
	runGit(t, "", "-C", dir, "worktree", "add", "--quiet", "--detach", linked)
	moved := filepath.Join(parent, "moved")
	runGit(t, "", "clone", "--quiet", "--separate-git-dir="+filepath.Join(parent, "elsewhere"), dir, moved)
	borrowing := filepath.Join(parent, "borrowing")
	runGit(t, "", "clone", "--quiet", "--shared", dir, borrowing)
	for _, path := range []string{dir, dir + "/.git", bare, strings.TrimSuffix(bare, ".git"), linked, moved, borrowing} {
		local, err := inprocess.OpenLocal(path)
		if err != nil {
			t.Errorf("OpenLocal(%q): %v", path, err)
			continue
		}
		l, err := local.List(t.Context())
		if err != nil || l.Refs[git.Head].ID != head {
			t.Errorf("List of %q = %+v, %v, want HEAD at %s", path, l, err, head)
		}
		objects, err := local.Fetch(t.Context(), inprocess.Want{IDs: []string{head}})
		if err != nil || !objects.Has(head) {
			t.Errorf("Fetch of %q: %v", path, err)
		}
		if err := local.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenLocalRefused(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(parent, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(parent, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"newhash", "newrefs", "relative"} {
		write(name+"/HEAD", "ref: refs/heads/main\n")
		write(name+"/refs/x", "")
		write(name+"/objects/x", "")
	}
	write("newhash/config", "[core]\n\tbare = true\n[extensions]\n\tobjectFormat = SHA256\n")
	write("newrefs/config", "[extensions]\n\trefStorage = reftable\n")
	write("relative/objects/info/alternates", "../../other/objects\n")
	write("plain/main.tf", "")
	write("pointless/.git", "no pointer\n")
	write("dangling/.git", "gitdir: ../none\n")
	for name, kind := range map[string]inprocess.Kind{
		"none": inprocess.NotFound, "plain": inprocess.NotFound, "dangling": inprocess.NotFound, "pointless": inprocess.Broken,
		"newhash": inprocess.Unsupported, "newrefs": inprocess.Unsupported, "relative": inprocess.Unsupported,
	} {
		_, err := inprocess.OpenLocal(filepath.Join(parent, name))
		var failed *inprocess.Error
		if !errors.As(err, &failed) || failed.Kind != kind {
			t.Errorf("OpenLocal(%q) = %v, want the kind %d", name, err, kind)
		}
	}
}
