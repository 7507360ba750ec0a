package getmodules_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gittest"
)

// gitRepo is a bare repository to fetch from.
type gitRepo struct {
	t   testing.TB
	dir string
	env []string

	sha256 bool // objects have SHA-256 names
}

// gitFile is a file of a commit. An empty mode means a regular file.
type gitFile struct{ path, mode, content string }

func newGitRepo(t testing.TB, root, name string, initArgs ...string) *gitRepo {
	t.Helper()
	r := &gitRepo{t: t, dir: filepath.Join(root, name), sha256: slices.Contains(initArgs, "--object-format=sha256"), env: gitEnv(t,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=1700000000 +0000")}
	if err := os.CopyFS(r.dir, emptyRepo(t, initArgs...)); err != nil {
		t.Fatal(err)
	}
	return r
}

// emptyRepos caches empty repositories by the arguments of git init.
var emptyRepos sync.Map

func emptyRepo(t testing.TB, initArgs ...string) fs.FS {
	t.Helper()
	key := strings.Join(initArgs, " ")
	if files, ok := emptyRepos.Load(key); ok {
		return files.(fs.FS)
	}
	dir := t.TempDir()
	cmd := exec.Command("git", slices.Concat([]string{"init", "--quiet", "--bare", "--initial-branch=main", "--template="}, initArgs, []string{dir})...)
	cmd.Env = gitEnv(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	files := fstest.MapFS{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		file := &fstest.MapFile{Mode: entry.Type() | 0o700}
		if err == nil && entry.Type().IsRegular() {
			file.Data, err = os.ReadFile(name)
		}
		files[filepath.ToSlash(rel)] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(files, ".")
	files["config"].Data = append(files["config"].Data, "[uploadpack]\n\tallowFilter = true\n"...)
	emptyRepos.Store(key, files)
	return files
}

// head returns the commit that a ref points to, or an empty string if the ref does not
// exist.
func (r *gitRepo) head(ref string) string {
	r.t.Helper()
	if text, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(ref))); err == nil {
		return strings.TrimSpace(string(text))
	}
	if _, err := os.Stat(filepath.Join(r.dir, "packed-refs")); err != nil {
		return ""
	}
	return r.git("", "for-each-ref", "--format=%(objectname)", ref)
}

// git runs git in the repository and returns its output.
func (r *gitRepo) git(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"--git-dir=" + r.dir}, args...)...)
	cmd.Env = r.env
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// gitBy is the author and committer of all commits and the tagger of all tags.
const gitBy = "a <a@example.com> 1700000000 +0000"

// fixture returns a writer of objects and refs that does not run git.
func (r *gitRepo) fixture() gittest.Repository {
	return gittest.Repository{Dir: r.dir, SHA256: r.sha256}
}

// made returns id, the name of an object that was written, or fails the test if err is not
// nil.
func (r *gitRepo) made(id string, err error) string {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *gitRepo) commit(branch string, files ...gitFile) string {
	r.t.Helper()
	var all []gittest.File
	for _, f := range files {
		all = append(all, gittest.File{Path: f.path, Mode: f.mode, Content: []byte(f.content)})
	}
	return r.commitTree(git.Heads+branch, "x", r.made(r.fixture().Tree(all...)))
}

func (r *gitRepo) commitTree(ref, message, tree string) string {
	r.t.Helper()
	c := gittest.Commit{Tree: tree, By: gitBy, Message: message}
	if parent := r.head(ref); parent != "" {
		c.Parents = []string{parent}
	}
	return r.setRef(ref, r.made(r.fixture().Commit(c)))
}

// setRef makes a ref point to an object and returns the object's name.
func (r *gitRepo) setRef(ref, id string) string {
	r.t.Helper()
	return r.made(id, r.fixture().SetRef(ref, id))
}

func (r *gitRepo) annotate(tag, commit string) string {
	r.t.Helper()
	return r.made(r.fixture().Tag(gittest.Tag{Name: tag, Object: commit, By: gitBy, Message: "x\n"}))
}

func (r *gitRepo) annotateTag(tag, of string) {
	r.t.Helper()
	r.made(r.fixture().Tag(gittest.Tag{Name: tag, Object: r.head(git.Tags + of), Kind: "tag", By: gitBy, Message: "x\n"}))
}

// gitRawEntry is an entry of a handmade tree.
type gitRawEntry struct{ mode, name, id string }

func (r *gitRepo) rawCommit(branch string, entries ...gitRawEntry) string {
	r.t.Helper()
	return r.setRef(git.Heads+branch, r.made(r.fixture().Commit(gittest.Commit{Tree: r.rawTree(entries...), By: gitBy, Message: "x\n"})))
}

func (r *gitRepo) rawTree(entries ...gitRawEntry) string {
	r.t.Helper()
	var all []gittest.Entry
	for _, e := range entries {
		all = append(all, gittest.Entry{Mode: e.mode, Name: e.name, ID: e.id})
	}
	return r.made(r.fixture().RawTree(all...))
}

func (r *gitRepo) blob(content string) string {
	r.t.Helper()
	return r.made(r.fixture().Object("blob", []byte(content)))
}

func gitMainTF(t testing.TB, s *gitServer) (r *gitRepo, first, second string) {
	t.Helper()
	r = newGitRepo(t, s.root, "net.git")
	first = r.commit("main", gitFile{path: "main.tf", content: "# one\n"})
	second = r.commit("main", gitFile{path: "main.tf", content: "# two\n"})
	return r, first, second
}

func gitStoreDir(f *getmodules.Fetcher, remote string) string {
	return filepath.Join(f.CacheDir, "git", fmt.Sprintf("%x", sha256.Sum256([]byte(remote))))
}
