//go:build unix

package gitexec_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/gittest"
)

// fetchedTree fetches a commit and returns the name of its tree.
func fetchedTree(t *testing.T, r *gitexec.Repository, want git.Want) (tree string, err error) {
	t.Helper()
	err = r.Fetch(t.Context(), want, func(f git.Fetched) (err error) {
		_, tree, err = git.ReadCommit(f.Objects, f.ID)
		return err
	})
	return tree, err
}

// TestQueue starts several fetches from one repository while another process has the lock of its
// store. They are then fetched by one "git fetch", and one by one if a ref does not exist.
func TestQueue(t *testing.T) {
	t.Parallel()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	remote := filepath.Join(t.TempDir(), "net.git")
	if out, err := exec.CommandContext(t.Context(), real, "init", "-q", "--bare", remote).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	repo := gittest.Repository{Dir: remote}
	commits, trees := map[string]string{}, map[string]string{}
	for _, name := range []string{"v1", "v2", "v3"} {
		tree, err := repo.Tree(gittest.File{Path: "main.tf", Content: []byte(name)})
		if err != nil {
			t.Fatal(err)
		}
		commits[name], err = repo.Commit(gittest.Commit{Tree: tree, By: "a <a@example.com> 1700000000 +0000", Message: name})
		if err := errors.Join(err, repo.SetRef("refs/tags/"+name, commits[name])); err != nil {
			t.Fatal(err)
		}
		trees[name], trees[commits[name]] = tree, tree
	}
	for _, test := range []struct {
		name    string
		wants   []git.Want
		missing string // a ref that does not exist
		other   bool   // the last fetch has other credentials
		runs    int    // of "git fetch"
	}{
		{name: "refs", wants: []git.Want{{Ref: "v1"}, {Ref: "v2"}, {Ref: "v3"}}, runs: 1},
		{name: "commits", wants: []git.Want{{ID: commits["v1"], Ref: "v1"}, {Ref: commits["v2"]}, {Ref: "v3"}}, runs: 1},
		{name: "the same ref", wants: []git.Want{{Ref: "v1"}, {Ref: "v1"}, {Ref: "v2"}}, runs: 1},
		{name: "a missing ref", wants: []git.Want{{Ref: "v1"}, {Ref: "none"}, {Ref: "v3"}}, missing: "none", runs: 4},
		{name: "other credentials", wants: []git.Want{{Ref: "v1"}, {Ref: "v2"}, {Ref: "v3"}}, other: true, runs: 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			log, cache := filepath.Join(t.TempDir(), "log"), t.TempDir()
			program := script(t, t.TempDir(), "git", fmt.Sprintf(`case "$*" in *" fetch --progress"*) echo run >> %s;; esac; exec %s "$@"`, log, real))
			g := &gitexec.Git{Path: program, Env: env("HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1")}
			u := &url.URL{Scheme: "file", Path: remote}
			stores := filepath.Join(cache, "git")
			lock := flock.New(filepath.Join(stores, fmt.Sprintf("%x.lock", sha256.Sum256([]byte(u.String())))), flock.SetPermissions(0o600))
			if err := errors.Join(os.Mkdir(stores, 0o700), lock.Lock()); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for i, want := range test.wants {
				r := &gitexec.Repository{Git: g, URL: u, Protocols: []string{"file"}, Scratch: t.TempDir(), CacheDir: cache, MaxBytes: 1 << 20}
				if test.other && i == len(test.wants)-1 {
					r.User = url.User("other")
				}
				all.Go(func() {
					tree, err := fetchedTree(t, r, want)
					if want.Ref == test.missing && test.missing != "" {
						if !errors.Is(err, git.ErrRefNotFound) {
							t.Errorf("Fetch(%v) = %v, want ErrRefNotFound", want, err)
						}
					} else if err != nil || tree != trees[want.Ref] {
						t.Errorf("Fetch(%v) brings the tree %q, %v", want, tree, err)
					}
				})
			}
			for gitexec.Waiting(g) < len(test.wants) {
				time.Sleep(time.Millisecond)
			}
			if err := lock.Unlock(); err != nil {
				t.Fatal(err)
			}
			all.Wait()
			text, err := os.ReadFile(log)
			if got := strings.Count(string(text), "run"); got != test.runs || err != nil {
				t.Errorf("git fetch ran %d times, want %d; %v", got, test.runs, err)
			}
		})
	}
}
