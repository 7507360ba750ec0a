package getmodules_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestGitRefForms has the kinds of refs and the arguments beside them, with the number of requests that each
// client needs. TestGitRefRule has more refs.
func TestGitRefForms(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	r.annotate("v1.1.0", first)
	r.setRef("refs/heads/"+first, second) // a branch whose name looks like a commit
	tests := []struct {
		query, revision, want string
		byGit, inProcess      int
	}{
		{"", "", second, 3, 2},
		{"ref=", "", second, 3, 2},
		{"ref=v1.1.0", "", first, 3, 2},
		{"ref=main", "", second, 3, 2},
		{"ref=" + first, "", first, 2, 1},
		{"ref=" + strings.ToUpper(first), "", first, 2, 1},
		{"ref=" + first[:8], "", first, 7, 8}, // git takes over
		{"ref=v1.1.0&depth=1", "", first, 3, 2},
		{"depth=1&ref=" + first, "", first, 2, 1},
		{"ref=main&depth=many", "", second, 3, 2},
		{"ref=" + first + "&ref=main", "", first, 2, 1}, // the first one counts
		{"ref=v1.1.0&version=~%3E1.0", "", first, 3, 2},
		{"ref=main", first, first, 2, 1},
		{"", second, second, 2, 1},
	}
	for _, tt := range testenv.Sample(tests) {
		for client, requests := range map[string]int{"git": tt.byGit, "in process": tt.inProcess} {
			// Not parallel, because the test counts the server's requests.
			t.Run(client+" "+tt.query+" "+tt.revision, func(t *testing.T) {
				s.count()
				got := wireResult(t, gitClients[client](t), getmodules.Request{Package: s.address(r, tt.query), Revision: tt.revision})
				if n := s.count(); n != requests {
					t.Errorf("%d requests, want %d", n, requests)
				}
				text := map[string]string{first: "# one\n", second: "# two\n"}[tt.want]
				want := wireFetch{Package: &getmodules.Package{Resolved: s.address(r, "ref="+tt.want), Revision: tt.want}, Tree: map[string]string{"main.tf": text}}
				if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(getmodules.Package{}, "Bytes")); diff != "" {
					t.Errorf("FetchGit (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestGitMissing checks that a fetch that fails in this process fails as with git, which is asked then.
func TestGitMissing(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, _ := gitMainTF(t, s)
	r.git("", "tag", "tree", first+"^{tree}")
	tag := r.annotate("v1", first)
	for _, tt := range []struct{ query, revision string }{
		{"ref=v9", ""}, {"ref=tree", ""}, {"ref=00000", ""}, {"ref=" + strings.Repeat("1", 40), ""},
		{"", tag}, {"", strings.Repeat("1", 40)}, {"", strings.Repeat("1", 64)},
	} {
		wireSame(t, s, s.URL, getmodules.Request{Package: s.address(r, tt.query), Revision: tt.revision})
	}
}

// TestGitRefNotFound checks the error for a ref that does not exist. Package git has more names and what
// resembles them.
func TestGitRefNotFound(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, _ := gitMainTF(t, s)
	r.setRef("refs/tags/v1.2.0", first)
	for client, fetcher := range gitClients {
		for ref, near := range map[string][]string{"1.2.0": {"v1.2.0"}, "refs/heads/v1.2.0": {"v1.2.0"}, "refs/remotes/origin/main": {"main"}, "abcd": {"v1.2.0"}} {
			_, _, err := fetchGit(t, fetcher(t), getmodules.Request{Package: s.address(r, "ref="+ref)})
			notFound, ok := errors.AsType[*getmodules.RefNotFoundError](err)
			if !ok || notFound.Ref != ref || !cmp.Equal(near, notFound.Near) || !errors.Is(err, getmodules.ErrRefNotFound) || !strings.Contains(err.Error(), `"`+near[0]+`"`) {
				t.Errorf("FetchGit(%q) by %s = %v, want a *RefNotFoundError near %q", ref, client, err, near)
			}
		}
	}
}

// A "+" in the arguments of an address means a space, which no ref has.
func TestGitRefWithPlus(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	r.commit("main", gitFile{path: "main.tf", content: "1"})
	r.annotate("v1.2.0+mine", r.head("refs/heads/main"))
	_, _, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, "ref=v1.2.0+mine")})
	if err == nil || !strings.Contains(err.Error(), `write "%2B" for a "+"`) {
		t.Errorf("?ref=v1.2.0+mine: %v, want a hint", err)
	}
	if _, _, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, "ref=v1.2.0%2Bmine")}); err != nil {
		t.Errorf("?ref=v1.2.0%%2Bmine: %v", err)
	}
}

func TestGitEmptyRepository(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "empty.git")
	_, _, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, "")})
	if !errors.Is(err, getmodules.ErrRefNotFound) || !strings.Contains(err.Error(), "empty") {
		t.Errorf("FetchGit of an empty repository = %v, want ErrRefNotFound", err)
	}
}
