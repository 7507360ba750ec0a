package git_test

import (
	"testing"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/google/go-cmp/cmp"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	refs := map[string]int{
		"HEAD": 0, "refs/heads/main": 1, "refs/tags/v1": 2, "refs/heads/v1": 3, "refs/tags/heads/main": 4, "refs/both": 5,
		"refs/tags/both": 6, "refs/heads/both": 7, "refs/remotes/origin/HEAD": 8, "refs/remotes/origin/main": 9,
		"refs/heads/refs/tags/v1": 10, "refs/heads/HEAD": 11, "refs/pull/1/head": 12,
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
		{"pull/1/head", "refs/pull/1/head", nil},
		{"1/head", "", nil},
		{"none", "", nil},
	} {
		got, others := git.Choose(tt.name, refs)
		if diff := cmp.Diff([]any{tt.want, tt.others}, []any{got, others}); diff != "" {
			t.Errorf("Choose(%q) (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	for full, want := range map[string]string{
		"HEAD": "HEAD", "refs/tags/v1": "tag v1", "refs/heads/feat/x": "branch feat/x", "refs/pull/1/head": "refs/pull/1/head",
	} {
		if got := git.Describe(full); got != want {
			t.Errorf("Describe(%q) = %q, want %q", full, got, want)
		}
	}
}
