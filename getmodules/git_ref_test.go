package getmodules_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestGitRefForms has the kinds of refs and the arguments beside them, with the number of requests that each
// client needs. Package internal/git has all names.
func TestGitRefForms(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	r.annotate("v1.1.0", first)
	r.setRef("refs/tags/v1.1.0+mine", first)
	r.setRef("refs/heads/"+first, second) // a branch whose name looks like a commit
	type row struct {
		kind, query, revision, want string
		byGit, inProcess            int
	}
	tests := []row{
		{"HEAD", "", "", second, 3, 2},
		{"HEAD", "ref=", "", second, 3, 2},
		{"name", "ref=v1.1.0", "", first, 3, 2},
		{"name", "ref=main", "", second, 3, 2},
		{"name", "ref=origin/main", "", second, 5, 2},
		{"name", "ref=v1.1.0%2Bmine", "", first, 3, 2},
		{"commit", "ref=" + first, "", first, 2, 1},
		{"commit", "ref=" + strings.ToUpper(first), "", first, 2, 1},
		{"digits", "ref=" + first[:8], "", first, 7, 8}, // git takes over
		{"name", "ref=v1.1.0&depth=1", "", first, 3, 2},
		{"commit", "depth=1&ref=" + first, "", first, 2, 1},
		{"name", "ref=main&depth=many", "", second, 3, 2},
		{"commit", "ref=" + first + "&ref=main", "", first, 2, 1}, // the first one counts
		{"name", "ref=v1.1.0&version=~%3E1.0", "", first, 3, 2},
		{"revision", "ref=main", first, first, 2, 1},
		{"revision", "", second, second, 2, 1},
	}
	for _, tt := range testenv.Sample(tests, func(r row) string { return r.kind }) {
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
				if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(getmodules.Package{}, "Bytes", "Tree")); diff != "" {
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
	for _, tt := range []struct {
		query, revision string
		want            error
	}{
		{"ref=v9", "", nil}, // TestGitRefNotFound has its error
		{"ref=tree", "", nil},
		{"ref=00000", "", nil},
		{"ref=" + strings.Repeat("1", 40), "", getmodules.ErrRevisionNotFound},
		{"", tag, getmodules.ErrRevisionNotFound},
		{"", strings.Repeat("1", 40), getmodules.ErrRevisionNotFound},
		{"", strings.Repeat("1", 64), nil},
	} {
		got, _ := wireSame(t, s, s.URL, getmodules.Request{Package: s.address(r, tt.query), Revision: tt.revision})
		if got.Err == nil || tt.want != nil && !slices.Contains(got.Err, tt.want.Error()) {
			t.Errorf("FetchGit(%q at %q) = %q, want %v", tt.query, tt.revision, got.Err, tt.want)
		}
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
			_, _, err := fetchGit(t, fetcher(t), getmodules.Request{Package: s.local(client, r, "ref="+ref)})
			notFound, ok := errors.AsType[*getmodules.RefNotFoundError](err)
			if !ok || notFound.Ref != ref || !cmp.Equal(near, notFound.Near) || !errors.Is(err, getmodules.ErrRefNotFound) || !strings.Contains(err.Error(), `"`+near[0]+`"`) {
				t.Errorf("FetchGit(%q) by %s = %v, want a *RefNotFoundError near %q", ref, client, err, near)
			}
		}
	}
}

// TestGitRivalRefs checks the warning that a name also matches a second ref.
func TestGitRivalRefs(t *testing.T) {
	t.Parallel()
	s, old := newGitServer(t), newGitServer(t)
	old.root, old.oldProtocol = s.root, true
	r, first, second := gitMainTF(t, s)
	for ref, commit := range map[string]string{
		"refs/v1": first, "refs/tags/v1": second, "refs/tags/v2": first, "refs/heads/v2": first, "refs/heads/annotated": second, "refs/v3": first,
	} {
		r.setRef(ref, commit)
	}
	r.annotate("annotated", first)
	r.annotate("v3", first)
	for name, want := range map[string]struct{ taken, rival string }{
		"main":      {},
		"v1":        {"refs/v1", "refs/tags/v1"},
		"v2":        {}, // the same commit
		"v3":        {}, // that of an annotated tag
		"annotated": {"refs/tags/annotated", "refs/heads/annotated"},
	} {
		var parts []string // parts of the warning
		if want.rival != "" {
			parts = []string{"?ref=" + want.taken + " or ?ref=" + want.rival, "(commit " + first + ")", "(commit " + second + ")"}
		}
		check := func(client string, server *gitServer, f *getmodules.Fetcher) {
			pkg, _, err := fetchGit(t, f, getmodules.Request{Package: server.local(client, r, "ref="+name)})
			testenv.Must(t, err)
			warnings := strings.Join(pkg.Warnings, "\n")
			if lacks := func(part string) bool { return !strings.Contains(warnings, part) }; (warnings != "") != (len(parts) > 0) || slices.ContainsFunc(parts, lacks) {
				t.Errorf("?ref=%s by %s: warnings %q, want %q in them", name, client, warnings, parts)
			}
		}
		for client, fetcher := range gitClients {
			check(client, s, fetcher(t))
		}
		check("git, with an old server", old, newGitFetcher(t))
	}
	front := newGitFront(t, s, func(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
		sendBody(w, truth, withoutPeeled(truth.Body.Bytes()))
	})
	r.annotate("v4", first)
	r.setRef("refs/heads/v4", first)
	for client, fetcher := range gitClients {
		pkg, _, err := fetchGit(t, fetcher(t), front.request("?ref=v4"))
		testenv.Must(t, err)
		if len(pkg.Warnings) > 0 {
			t.Errorf("%s, with a server that does not say what a tag points to: %q", client, pkg.Warnings)
		}
	}
}

// withoutPeeled removes the commits of annotated tags from a listing of refs, which a server need not send.
func withoutPeeled(listing []byte) []byte {
	return peeled.ReplaceAllFunc(listing, func(packet []byte) []byte {
		line, _, _ := bytes.Cut(packet[4:], []byte(" peeled:"))
		return fmt.Appendf(nil, "%04x%s\n", 4+len(line)+1, line)
	})
}

var peeled = regexp.MustCompile(`[0-9a-f]{44} refs/[^ \n]+ peeled:[0-9a-f]{40}\n`)
