package git_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	refs := git.Refs{}
	for name, number := range map[string]int{
		"HEAD": 0, "refs/heads/main": 1, "refs/tags/v1": 2, "refs/heads/v1": 3, "refs/tags/heads/main": 4, "refs/both": 5,
		"refs/tags/both": 6, "refs/heads/both": 7, "refs/remotes/origin/HEAD": 8, "refs/remotes/origin/main": 9,
		"refs/heads/refs/tags/v1": 10, "refs/heads/HEAD": 11, "refs/pull/1/head": 12,
		"refs/heads/origin/v2": 13, "refs/heads/v2": 14,
	} {
		id := fmt.Sprintf("%040x", number)
		refs.Add(id, name)
	}
	for _, tt := range []struct {
		name, want string
		others     []string
	}{
		{"", "HEAD", nil},
		{"HEAD", "HEAD", []string{"refs/heads/HEAD"}},
		{"main", "refs/heads/main", nil},
		{"v1", "refs/tags/v1", []string{"refs/heads/v1"}},
		{"heads/main", "refs/heads/main", []string{"refs/tags/heads/main"}},
		{"tags/heads/main", "refs/tags/heads/main", nil},
		{"both", "refs/both", []string{"refs/tags/both", "refs/heads/both"}},
		{"refs/tags/v1", "refs/tags/v1", []string{"refs/heads/refs/tags/v1"}},
		{"refs/heads/v1", "refs/heads/v1", nil},
		{"refs/tags/main", "", nil},
		{"origin", "refs/remotes/origin/HEAD", nil},
		{"origin/main", "refs/remotes/origin/main", nil},
		{"origin/both", "refs/heads/both", nil},
		{"origin/v2", "refs/heads/origin/v2", nil},
		{"origin/", "", nil},
		{"origin/none", "", nil},
		{"upstream/main", "", nil},
		{"pull/1/head", "refs/pull/1/head", nil},
		{"1/head", "", nil},
		{"none", "", nil},
	} {
		chosen := refs.Choose(tt.name)
		rival := ""
		if len(tt.others) > 0 {
			rival = tt.others[0]
		}
		if diff := cmp.Diff([]string{tt.want, rival}, []string{chosen.Name, chosen.Rival}); diff != "" {
			t.Errorf("Choose(%q) (-want +got):\n%s", tt.name, diff)
		}
	}
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
