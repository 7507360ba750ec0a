package git_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestChoose compares the refs that names stand for with those that git fetches.
func TestChoose(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "net.git")
	run := testenv.Git(t, t.TempDir(), "GIT_DIR="+dir)
	run("", "init", "--quiet", "--bare", "--initial-branch=main")
	var history strings.Builder // each ref has a commit of its own
	for _, ref := range []string{
		"refs/heads/main", "refs/heads/HEAD", "refs/tags/heads/main", "refs/heads/heads/main", "refs/v1", "refs/tags/v1", "refs/heads/v1",
		"refs/tags/v2", "refs/heads/v2", "refs/remotes/v2", "refs/heads/v3", "refs/remotes/v3/HEAD", "refs/remotes/v4/HEAD",
		"refs/remotes/v5", "refs/heads/refs/tags/v1", "refs/heads/refs/tags/masked", "refs/tags/refs/heads/main",
		"refs/tags/tags/v2", "refs/heads/tags/v2", "refs/heads/tags/odd", "refs/tags/heads/odd", "refs/pull/1/head",
		"refs/heads/pull/1/head", "refs/remotes/origin/main", "refs/remotes/origin/HEAD", "refs/heads/feat/x", "refs/heads/origin/feat/y", "refs/heads/annotated",
	} {
		fmt.Fprintf(&history, "commit %s\ncommitter a <a@example.com> 1 +0000\ndata %d\n%s\n", ref, len(ref), ref)
	}
	run(history.String(), "fast-import", "--quiet")
	run("", "tag", "--annotate", "--message=x", "annotated", "refs/tags/v2")
	refs := git.Refs{}
	for line := range strings.Lines(run("", "show-ref", "--head", "--dereference")) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs.Add(id, name)
	}
	want := fetchedByGit(t, dir, []string{
		"HEAD", "main", "heads/main", "refs/heads/main", "tags/heads/main", "refs/tags/heads/main", "heads/heads/main",
		"v1", "tags/v1", "heads/v1", "refs/v1", "refs/tags/v1", "refs/heads/v1", "v2", "tags/v2", "heads/v2", "tags/tags/v2",
		"heads/tags/v2", "remotes/v2", "refs/remotes/v2", "v3", "remotes/v3", "v4", "v5", "tags/odd", "heads/odd",
		"refs/tags/masked", "refs/tags/main", "refs/heads/odd", "pull/1/head", "refs/pull/1/head", "1/head", "origin/main", "origin", "origin/feat/y", "feat/x",
		"feat", "x", "annotated", "tags/annotated", "refs/heads/annotated", "none", "refs/none", "tags", "heads", "refs", "upstream/main",
	})
	// Git finds these in a clone. In the repository itself they mean the branch.
	want["origin/feat/x"], want["origin/v3"] = refs["refs/heads/feat/x"].Commit, refs["refs/heads/v3"].Commit
	want["origin/none"], want["origin/"], want[""] = "", "", want["HEAD"]
	for name, commit := range want {
		if chosen := refs.Choose(name); chosen.Commit != commit {
			t.Errorf("Choose(%q) = %+v, git takes %q", name, chosen, commit)
		}
	}
	for name, rival := range map[string]string{
		"": "", "HEAD": "refs/heads/HEAD", "main": "", "heads/main": "refs/tags/heads/main", "tags/heads/main": "", "v1": "refs/tags/v1",
		"refs/tags/v1": "refs/heads/refs/tags/v1", "refs/heads/v1": "", "annotated": "refs/heads/annotated", "origin/main": "", "origin/v3": "", "none": "",
	} {
		if chosen := refs.Choose(name); chosen.Rival != rival || chosen.RivalCommit != refs[rival].Commit {
			t.Errorf("Choose(%q) = %+v, want the rival %q", name, chosen, rival)
		}
	}
}

// fetchedByGit returns the commits that git fetches from a repository by names, "" for a name that it does not find.
func fetchedByGit(t *testing.T, from string, names []string) map[string]string {
	t.Helper()
	into := t.TempDir()
	run := testenv.Git(t, into, "GIT_DIR="+into)
	run("", "init", "--quiet", "--bare")
	commits, wanted := map[string]string{}, map[string]string{}
	for i, name := range names {
		commits[name], wanted[fmt.Sprint("refs/fetched/", i)] = "", name
	}
	for { // git names only one of those that it does not find
		cmd := exec.Command("git", "fetch", "--quiet", "--depth=1", "file://"+from)
		for ref, name := range wanted {
			cmd.Args = append(cmd.Args, name+":"+ref)
		}
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_DIR=" + into}
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		_, missing, found := strings.Cut(string(out), "couldn't find remote ref ")
		missing, _, _ = strings.Cut(missing, "\n")
		if !found {
			t.Fatalf("git fetch: %v: %s", err, out)
		}
		maps.DeleteFunc(wanted, func(_, name string) bool { return name == missing })
	}
	for ref, name := range wanted {
		commits[name] = run("", "rev-parse", ref+"^{commit}")
	}
	return commits
}

// TestChooseRival uses several refs of the same name. A ref that points to the same commit
// as the chosen one is not a rival.
func TestChooseRival(t *testing.T) {
	t.Parallel()
	one, two, tag := strings.Repeat("1", 40), strings.Repeat("2", 40), strings.Repeat("3", 40)
	refs := git.Refs{}
	refs.Add(tag, "refs/tags/v1")
	refs.Add(one, "refs/tags/v1^{}")
	refs.Add(one, "refs/heads/v1")
	refs.Add(two, "refs/remotes/v1")
	refs.Add("x", "refs/v1")
	want := git.Chosen{Name: "refs/tags/v1", Ref: git.Ref{ID: tag, Commit: one}, Rival: "refs/remotes/v1", RivalCommit: two}
	if diff := cmp.Diff(want, refs.Choose("v1")); diff != "" {
		t.Errorf("Choose (-want +got):\n%s", diff)
	}
}

// TestNear checks which names are proposed for a missing one: each once, the nearest first.
func TestNear(t *testing.T) {
	t.Parallel()
	refs := git.Refs{}
	for _, name := range []string{
		"HEAD", "refs/heads/main", "refs/heads/v1.2.0", "refs/pull/1/head", "refs/tags/1.2.0", "refs/tags/v1.2.0", "refs/tags/v1.2.0-rc.1",
		"refs/tags/network-v1.2.0", "refs/tags/v2.0.0", "refs/tags/x1.2.0.1.2.0", "refs/tags/long/name/of/v1.2.0", "refs/tags/other",
	} {
		refs.Add(strings.Repeat("1", 40), name)
	}
	for ref, want := range map[string][]string{
		"v1.2.0-final":             {"v1.2.0", "1.2.0"},
		"V1.2":                     {"1.2.0", "v1.2.0", "v1.2.0-rc.1", "x1.2.0.1.2.0", "network-v1.2.0"},
		"refs/tags/V1.2":           {"1.2.0", "v1.2.0", "v1.2.0-rc.1", "x1.2.0.1.2.0", "network-v1.2.0"},
		"refs/remotes/origin/main": {"main"},
		"mian":                     {"main"},
		"othr":                     {"other"},
		"v1.3.0":                   {"v1.2.0"},
		"nothing":                  {"v2.0.0", "v1.2.0", "1.2.0"},
		"":                         nil,
	} {
		for range 10 { // in any order of the refs
			if diff := cmp.Diff(want, refs.Near(ref)); diff != "" {
				t.Errorf("Near(%q) (-want +got):\n%s", ref, diff)
			}
		}
	}
}
