package getmodules_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
)

// TestNearRefs checks that an error proposes similar names, each of them once and the
// nearest first.
func TestNearRefs(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, _, _ := gitMainTF(t, s)
	for _, tag := range []string{"1.2.0", "v1.2.0", "v1.2.0-rc.1", "network-v1.2.0", "v2.0.0", "x1.2.0.1.2.0", "long/name/of/v1.2.0"} {
		r.setRef("refs/tags/"+tag, r.head("refs/heads/main"))
	}
	r.setRef("refs/heads/v1.2.0", r.head("refs/heads/main"))
	_, _, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, "ref=v1.2.0-final")})
	var notFound *getmodules.RefNotFoundError
	if !errors.As(err, &notFound) {
		t.Fatalf("Fetch = %v, want a *RefNotFoundError", err)
	}
	if diff := cmp.Diff([]string{"v1.2.0", "1.2.0"}, notFound.Near); diff != "" {
		t.Errorf("Near (-want +got):\n%s", diff)
	}
	_, _, err = fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, "ref=V1.2")})
	if !errors.As(err, &notFound) {
		t.Fatalf("Fetch = %v, want a *RefNotFoundError", err)
	}
	if diff := cmp.Diff([]string{"1.2.0", "v1.2.0", "v1.2.0-rc.1", "x1.2.0.1.2.0", "network-v1.2.0"}, notFound.Near); diff != "" {
		t.Errorf("Near (-want +got):\n%s", diff)
	}
}
