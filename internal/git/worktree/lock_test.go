package worktree_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/internal/testenv"
)

const lockName = ".terraform.lock.hcl"

// stock is a lock as stock tools write it.
const stock = `provider "registry.opentofu.org/hashicorp/null" {
  version = "3.2.1"
  hashes = [
    "h1:FbGfc+muBsC17Ohy5g806iuI1hQc4SIexpYCrQHQd8w=",
  ]
}
`

// locked returns a lock with a module of a version.
func locked(version string) string {
	return fmt.Sprintf(`module "net" {
  version = %q
  source  = "registry.opentofu.org/acme/net/aws"
  hashes = [
    "h1:FbGfc+muBsC17Ohy5g806iuI1hQc4SIexpYCrQHQd8w=",
  ]
}

%s`, version, stock)
}

// draft is a lock with module blocks in the format of a later draft only.
const draft = `module "registry.opentofu.org/acme/net/aws" {
  version = "1.0.0"
  hashes  = ["h1:FbGfc+muBsC17Ohy5g806iuI1hQc4SIexpYCrQHQd8w="]
}
` + stock

func newRepository(t *testing.T) workspace {
	t.Helper()
	return newWorkspace(t, "-b", "main")
}

// commit commits a file with a text; "" removes it.
func (w workspace) commit(name, text string) {
	w.t.Helper()
	if text == "" {
		w.check(os.Remove(w.path(name)))
	} else {
		w.write(name, text)
	}
	w.git("add", "-A")
	w.git("commit", "-q", "--allow-empty", "-m", name)
}

// want fails the test if the newest lock with modules in dir has another version; "" means that
// there is none.
func (w workspace) want(dir, version string) *worktree.LockVersion {
	w.t.Helper()
	found, err := worktree.FindLock(w.t.Context(), filepath.Join(w.dir, filepath.FromSlash(dir)), lockName, worktree.Modules)
	if err != nil {
		w.t.Fatalf("Find: %v", err)
	}
	if got := versionIn(found); got != version {
		w.t.Errorf("the lock has version %q, want %q", got, version)
	}
	return found
}

// versionIn returns the version of the only module in a lock; "" without one.
func versionIn(found *worktree.LockVersion) string {
	if found == nil {
		return ""
	}
	return found.Lock.Modules()[0].Version.String()
}

// change is a file of a commit; without a text, the commit removes it. The zero value changes nothing.
type change struct{ name, text string }

// importCommits adds commits to main, the oldest first. It starts two programs, however many there are.
func (w workspace) importCommits(changes ...change) {
	w.t.Helper()
	var stream strings.Builder
	_, err := os.Stat(w.path(".git/refs/heads/main"))
	for i, c := range changes {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter c <c@example.com> %d +0000\ndata 1\nx\n", 1_700_000_000+i)
		if i == 0 && err == nil {
			fmt.Fprintln(&stream, "from refs/heads/main^0")
		}
		switch {
		case c.text != "":
			fmt.Fprintf(&stream, "M 100644 inline %q\ndata %d\n%s\n", c.name, len(c.text), c.text)
		case c.name != "":
			fmt.Fprintf(&stream, "D %q\n", c.name)
		}
	}
	// Otherwise, glibc gives memory back to the system and takes it again for every commit, most of the time here.
	env := append(slices.Clip(w.env), "MALLOC_TRIM_THRESHOLD_=67108864", "MALLOC_MMAP_THRESHOLD_=67108864")
	testenv.Git(w.t, w.dir, env...)(stream.String(), "fast-import", "--quiet")
	w.git("reset", "-q", "--hard")
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		versions []string // oldest first
		want     string
	}{
		{"the last commit", []string{locked("1.0.0"), locked("1.1.0")}, "1.1.0"},
		{"the commit before", []string{locked("1.0.0"), locked("1.1.0"), stock}, "1.1.0"},
		{"the file is gone", []string{locked("1.0.0"), ""}, "1.0.0"},
		{"the file was gone", []string{locked("1.0.0"), "", stock}, "1.0.0"},
		{"a merge conflict", []string{locked("1.0.0"), "<<<<<<< a\n" + locked("1.1.0") + "=======\n" + locked("1.2.0") + ">>>>>>> b\n", stock}, "1.0.0"},
		{"a version that does not parse", []string{locked("1.0.0"), locked("1.1.0") + "{", stock}, "1.0.0"},
		{"blocks of a later draft only", []string{locked("1.0.0"), draft, stock}, "1.0.0"},
		{"blocks of a later draft beside ours", []string{locked("1.0.0"), draft + locked("1.1.0"), stock}, "1.1.0"},
		{"nothing but providers", []string{stock, stock + "\n"}, ""},
		{"the word in a comment", []string{locked("1.0.0"), "# module\n" + stock}, "1.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			var history []change
			for _, text := range test.versions {
				history = append(history, change{lockName, text})
			}
			r.importCommits(append(history, change{"other", "another file\n"})...)
			r.want(".", test.want)
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.want(".", "") // there is no commit
	r.commit("envs/dev/"+lockName, locked("1.0.0"))
	commit := r.git("rev-parse", "HEAD")
	r.commit("other", "x\n")
	r.want(".", "")
	found := r.want("envs/dev", "1.0.0")
	if want := "commit " + commit[:7] + " (2026-10-02)"; found.String() != want || found.Commit != commit || !found.IsHead || string(found.Src) != locked("1.0.0") {
		t.Errorf("Find = %s of %s (HEAD: %v), want %s of %s", found, found.Commit, found.IsHead, want, commit)
	}
	r.commit("envs/dev/"+lockName, stock)
	if found := r.want("envs/dev", "1.0.0"); found.IsHead {
		t.Error("an earlier version counts as HEAD's")
	}
	if found, err := worktree.FindLock(t.Context(), t.TempDir(), lockName, worktree.Modules); found != nil || err != nil {
		t.Errorf("Find without a repository = %v, %v", found, err)
	}
	providers, err := worktree.FindLock(t.Context(), filepath.Join(r.dir, "envs/dev"), lockName, worktree.Providers)
	if err != nil || !providers.IsHead {
		t.Errorf("Find of providers = %v, %v", providers, err)
	}
}

// A merge is a change by its first parent. What only the other parents have does not count.
func TestFirstParents(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit(lockName, locked("1.0.0"))
	r.git("checkout", "-q", "-b", "side")
	r.commit(lockName, locked("1.5.0"))
	r.commit(lockName, stock)
	r.git("checkout", "-q", "main")
	r.commit("other", "x\n")
	r.git("merge", "-q", "--no-ff", "-m", "merge", "side")
	r.want(".", "1.0.0")

	r.git("checkout", "-q", "side")
	r.commit(lockName, locked("1.6.0"))
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--no-ff", "-m", "merge", "side")
	merge := r.git("rev-parse", "HEAD")
	r.commit(lockName, stock)
	if found := r.want(".", "1.6.0"); found.Commit != merge {
		t.Errorf("the version is of %s, want the merge %s", found.Commit, merge)
	}
}

// A renamed directory is another project.
func TestRenamedDirectory(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit("old/"+lockName, locked("1.0.0"))
	r.git("mv", "old", "new")
	r.commit("new/"+lockName, stock)
	r.want("new", "")
}

func TestMaxCommits(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	history := []change{{lockName, locked("1.0.0")}}
	for i := range worktree.MaxLockCommits - 1 {
		history = append(history, change{lockName, fmt.Sprintf("# %d\n%s", i, stock)})
	}
	r.importCommits(history...)
	r.want(".", "1.0.0")
	r.commit(lockName, stock)
	r.want(".", "")
}

// A name that is a pattern for git names itself.
func TestPatterns(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	var history []change
	dirs := []string{"a*", "a:b", "-x", "ä b", "[ab]"}
	for _, dir := range append(dirs, "a") {
		history = append(history, change{dir + "/" + lockName, locked("1.0.0")})
	}
	history = append(history, change{"ab/" + lockName, locked("2.0.0")})
	for _, dir := range dirs {
		history = append(history, change{dir + "/" + lockName, stock})
	}
	r.importCommits(history...)
	for _, dir := range dirs {
		r.want(dir, "1.0.0")
	}
}

func TestWorktree(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit("a/"+lockName, locked("1.0.0"))
	other := filepath.Join(t.TempDir(), "other")
	r.git("worktree", "add", "-q", "-b", "side", other)
	side := workspace{t, other, r.env}
	side.commit("a/"+lockName, locked("1.1.0"))
	side.commit("a/"+lockName, stock)
	side.want("a", "1.1.0")
	r.want("a", "1.0.0")
}

func TestSubmodule(t *testing.T) {
	t.Parallel()
	inner, outer := newRepository(t), newRepository(t)
	inner.commit(lockName, locked("1.0.0"))
	inner.commit(lockName, stock)
	outer.commit(lockName, locked("2.0.0"))
	outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.dir, "sub")
	outer.want("sub", "1.0.0")
	outer.want(".", "2.0.0")
}

// Huge, linked and foreign objects at the place of the lock are passed over.
func TestOddObjects(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit(lockName, locked("1.0.0"))
	r.commit(lockName, "# "+strings.Repeat("x", 33<<20)+"\n"+locked("1.1.0"))
	r.commit(lockName, "")
	r.commit(lockName+"/file", locked("1.2.0"))
	r.git("rm", "-q", "-r", lockName)
	blob := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(blob, []byte("../elsewhere/module"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.git("update-index", "--add", "--cacheinfo", "120000,"+r.git("hash-object", "-w", blob)+","+lockName)
	r.git("commit", "-q", "-m", "a link")
	r.git("update-index", "--cacheinfo", "160000,"+r.git("rev-parse", "HEAD")+","+lockName)
	r.git("commit", "-q", "-m", "a submodule")
	r.want(".", "1.0.0")
}

// All versions together are limited too.
func TestLargeHistory(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit(lockName, locked("1.0.0"))
	for i := range 3 {
		r.commit(lockName, fmt.Sprintf("# %d %s\n", i, strings.Repeat("x", 24<<20)))
	}
	found, err := worktree.FindLock(t.Context(), r.dir, lockName, worktree.Modules)
	var end *worktree.HistoryEndError
	if found != nil || !errors.As(err, &end) || !errors.Is(err, worktree.ErrLargeHistory) {
		t.Errorf("Find = %v, %v, want ErrLargeHistory", found, err)
	}
}

// A search ends after MaxCommits along the first parents, and says so, whatever is in the older ones.
func TestLongHistory(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		newer   int // commits after the one with module blocks
		version string
		err     error
	}{
		{"blocks in the last commit that is searched", worktree.MaxCommits - 1, "1.0.0", nil},
		{"blocks in an older commit", worktree.MaxCommits, "", worktree.ErrBounds},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			newer := make([]change, test.newer)
			newer[0] = change{lockName, stock}
			r.importCommits(append([]change{{"README.md", "first"}, {lockName, locked("1.0.0")}}, newer...)...)
			found, err := worktree.FindLock(t.Context(), r.dir, lockName, worktree.Modules)
			if version := versionIn(found); version != test.version || !errors.Is(err, test.err) {
				t.Errorf("Find = %q, %v, want %q, %v", version, err, test.version, test.err)
			}
		})
	}
}

func TestShallowClone(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit(lockName, locked("1.0.0"))
	r.commit(lockName, stock)
	r.commit("other", "x\n")
	clone := workspace{t, filepath.Join(t.TempDir(), "clone"), r.env}
	r.git("clone", "-q", "--depth=2", "file://"+r.dir, clone.dir)
	found, err := worktree.FindLock(t.Context(), clone.dir, lockName, worktree.Modules)
	var end *worktree.HistoryEndError
	if found != nil || !errors.As(err, &end) || !end.Shallow {
		t.Errorf("Find = %v, %v, want that the clone is shallow", found, err)
	}
	clone.git("fetch", "-q", "--depth=3")
	clone.want(".", "1.0.0")
}

// A newer version may be among the objects that a partial clone does not have.
func TestPartialClone(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			r.commit(lockName, locked("1.0.0"))
			r.commit(lockName, locked("1.1.0"))
			r.commit(lockName, "")
			r.commit(lockName, stock)
			r.git("config", "uploadpack.allowFilter", "true")
			clone := workspace{t, filepath.Join(t.TempDir(), "clone"), r.env}
			r.git("clone", "-q", "--filter="+filter, "file://"+r.dir, clone.dir)
			found, err := worktree.FindLock(t.Context(), clone.dir, lockName, worktree.Modules)
			var end *worktree.HistoryEndError
			if found != nil || !errors.As(err, &end) || !end.Partial {
				t.Errorf("Find = %v, %v, want that the clone is partial", found, err)
			}
			clone.git("log", "-p", lockName)
			clone.want(".", "1.1.0")
		})
	}
}

func TestLineEndInName(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit(lockName, locked("1.0.0"))
	if found, err := worktree.FindLock(t.Context(), r.dir, "a\nb", worktree.Modules); !errors.As(err, new(*worktree.HistoryEndError)) {
		t.Errorf("Find = %v, %v, want an error", found, err)
	}
}
