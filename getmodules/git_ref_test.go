package getmodules_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestGitRefForms has the kinds of refs and the arguments beside them, with the number of requests that git
// needs. TestGitRefRule has more refs.
func TestGitRefForms(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	r.annotate("v1.1.0", first)
	r.setRef("refs/heads/"+first, second) // a branch whose name looks like a commit

	tests := []struct {
		name, query, want string
		requests          int
	}{
		{"none", "", second, 3},
		{"empty", "ref=", second, 3},
		{"annotated tag", "ref=v1.1.0", first, 3},
		{"branch", "ref=main", second, 3},
		{"commit", "ref=" + first, first, 2},
		{"commit in capitals", "ref=" + strings.ToUpper(first), first, 2},
		{"short commit", "ref=" + first[:8], first, 7},
		{"depth", "ref=v1.1.0&depth=1", first, 3},
		{"depth of a commit", "depth=1&ref=" + first, first, 2},
		{"odd depth", "ref=main&depth=many", second, 3},
		{"first ref counts", "ref=" + first + "&ref=main", first, 2},
		{"version is not git's", "ref=v1.1.0&version=~%3E1.0", first, 3},
	}
	for _, tt := range testenv.Sample(tests) {
		// Not parallel, because the test counts the server's requests.
		t.Run(tt.name, func(t *testing.T) {
			s.count()
			pkg, dir, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, tt.query)})
			if err != nil {
				t.Fatalf("FetchGit(%q): %v", tt.query, err)
			}
			if pkg.Revision != tt.want {
				t.Errorf("FetchGit(%q).Revision = %s, want %s", tt.query, pkg.Revision, tt.want)
			}
			if got, want := pkg.Resolved, s.address(r, "ref="+tt.want); got != want {
				t.Errorf("FetchGit(%q).Resolved = %s, want %s", tt.query, got, want)
			}
			if n := s.count(); n != tt.requests {
				t.Errorf("FetchGit(%q) made %d requests, want %d", tt.query, n, tt.requests)
			}
			if len(pkg.Warnings) > 0 {
				t.Errorf("FetchGit(%q).Warnings = %q", tt.query, pkg.Warnings)
			}
			want := "# one\n"
			if tt.want == second {
				want = "# two\n"
			}
			if got, _ := os.ReadFile(filepath.Join(dir, "main.tf")); string(got) != want {
				t.Errorf("FetchGit(%q): main.tf = %q, want %q", tt.query, got, want)
			}
		})
	}
}

func TestGitRefNotFound(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, _ := gitMainTF(t, s)
	for _, name := range []string{"v1.2.0", "net/v1.2.0", "v1.2.0-rc1", "other"} {
		r.setRef("refs/tags/"+name, first)
	}
	tests := []struct {
		ref  string
		near string
	}{
		{"1.2.0", `"v1.2.0", "net/v1.2.0", "v1.2.0-rc1"`},
		{"V1.2.0", `"v1.2.0", "net/v1.2.0", "v1.2.0-rc1"`},
		{"refs/tags/1.2", `"v1.2.0", "net/v1.2.0", "v1.2.0-rc1"`},
		{"nothing", ""},
		{"deadbeef", ""},                       // no commit begins with this
		{"abcd", ""},                           // no commit begins with this either
		{"refs/heads/v1.2.0", `"v1.2.0"`},      // v1.2.0 is a tag, not a branch
		{"v1.2.0-rc1-mine", `"v1.2.0-rc1"`},    // longer than the existing name
		{"refs/remotes/origin/main", `"main"`}, // a ref that exists only in clones
	}
	for _, tt := range testenv.Sample(tests) {
		t.Run(tt.ref, func(t *testing.T) {
			t.Parallel()
			for _, f := range []*getmodules.Fetcher{newGitFetcher(t), newBuiltInFetcher(t)} {
				_, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref="+tt.ref)})
				if !errors.Is(err, getmodules.ErrRefNotFound) {
					t.Fatalf("FetchGit(%q) = %v, want ErrRefNotFound", tt.ref, err)
				}
				if got := err.Error(); !strings.Contains(got, tt.ref) || !strings.Contains(got, tt.near) {
					t.Errorf("FetchGit(%q) = %q, want both the ref and %q in it", tt.ref, got, tt.near)
				}
			}
		})
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

// TestGitTagAndBranch uses a server with version 0 of the protocol. TestGitRivalRefs uses version 2.
func TestGitTagAndBranch(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	s.oldProtocol = true
	r, first, second := gitMainTF(t, s)
	r.annotate("v1", first)
	r.setRef("refs/heads/v1", second)
	r.setRef("refs/tags/same", first)
	r.setRef("refs/heads/same", first)
	f := newGitFetcher(t)

	pkg, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=v1")})
	if err != nil {
		t.Fatal(err)
	}
	if pkg.Revision != first {
		t.Errorf("Revision = %s, want the tag's %s", pkg.Revision, first)
	}
	if w := strings.Join(pkg.Warnings, "\n"); !strings.Contains(w, first) || !strings.Contains(w, second) {
		t.Errorf("Warnings = %q, want both commits", w)
	}
	pkg, _, err = fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=same")})
	if err != nil || len(pkg.Warnings) > 0 {
		t.Errorf("a branch at the tag's commit: %v, %q, want no warning", err, pkg.Warnings)
	}
	pkg, _, err = fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=refs/heads/v1")})
	if err != nil || pkg.Revision != second || len(pkg.Warnings) > 0 {
		t.Errorf("the branch by its full name: %v, %+v, want %s", err, pkg, second)
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
