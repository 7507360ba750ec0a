package gittest_test

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestChangedRepository lists the refs after each change to a repository and checks that
// the answer is up to date. A repeated request without a change must give the same answer.
func TestChangedRepository(t *testing.T) {
	t.Parallel()
	handler, run := newHandler(t)
	listRefs := func() string {
		r := httptest.NewRequest("POST", "/a/r.git/git-upload-pack", strings.NewReader("0014command=ls-refs\n0000"))
		r.Header.Set("Content-Type", "application/x-git-upload-pack-request")
		r.Header.Set("Git-Protocol", "version=2")
		w := httptest.NewRecorder()
		handler.Serve(w, r, "a/r.git/git-upload-pack")
		return w.Body.String()
	}
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
