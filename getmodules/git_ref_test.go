package getmodules_test

import (
	"errors"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/git/gittest"
	"github.com/cotterpin/cotter/internal/testenv"
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

// gitAmbiguous returns a repository in which most names match several refs. The refs that
// match a name point to different commits.
func gitAmbiguous(t *testing.T, s *gitServer) *gitRepo {
	t.Helper()
	r := newGitRepo(t, s.root, "net.git")
	r.commit("main", gitFile{path: "main.tf", content: "HEAD"})
	tree := r.made(r.fixture().Tree(gittest.File{Path: "main.tf", Content: []byte("HEAD")}))
	for _, ref := range []string{
		"refs/heads/HEAD", "refs/tags/heads/main", "refs/heads/heads/main", "refs/v1", "refs/tags/v1", "refs/heads/v1",
		"refs/tags/v2", "refs/heads/v2", "refs/remotes/v2", "refs/heads/v3", "refs/remotes/v3/HEAD", "refs/remotes/v4/HEAD",
		"refs/remotes/v5", "refs/heads/refs/tags/v1", "refs/heads/refs/tags/masked", "refs/tags/refs/heads/main",
		"refs/tags/tags/v2", "refs/heads/tags/v2", "refs/heads/tags/odd", "refs/tags/heads/odd", "refs/pull/1/head",
		"refs/heads/pull/1/head", "refs/remotes/origin/main", "refs/remotes/origin/HEAD", "refs/heads/feat/x",
	} {
		r.commitTree(ref, ref, tree)
	}
	r.annotate("annotated", r.head("refs/tags/v2"))
	r.setRef("refs/heads/annotated", r.head("refs/heads/v2"))
	return r
}

// TestGitRefRule checks that each client resolves a name to the same ref as git itself.
// Some of the clients fetch the name and the others only look it up.
func TestGitRefRule(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := gitAmbiguous(t, s)
	web, local := "git::"+s.URL+"/net.git", "git::file://"+r.dir
	clients := []struct {
		name, address string
		fetcher       *getmodules.Fetcher
	}{
		{"git", local, newGitFetcher(t)},
		{"in process", web, newWireFetcher(t)},
		{"built in", web, newBuiltInFetcher(t)},
	}
	names := []string{
		"", "HEAD", "main", "heads/main", "refs/heads/main", "tags/heads/main", "refs/tags/heads/main", "heads/heads/main",
		"v1", "tags/v1", "heads/v1", "refs/v1", "refs/tags/v1", "refs/heads/v1", "v2", "tags/v2", "heads/v2", "tags/tags/v2",
		"heads/tags/v2", "remotes/v2", "refs/remotes/v2", "v3", "remotes/v3", "v4", "v5", "tags/odd", "heads/odd",
		"refs/tags/masked", "refs/heads/odd", "pull/1/head", "refs/pull/1/head", "1/head", "origin/main", "origin", "feat/x",
		"feat", "x", "annotated", "tags/annotated", "refs/heads/annotated", "none", "refs/none", "tags", "heads", "refs",
	}
	taken := gitTakes(t, r, names)
	// Git finds these in a clone. In the repository itself they mean the branch.
	for name, branch := range map[string]string{"origin/feat/x": "refs/heads/feat/x", "origin/v3": "refs/heads/v3", "origin/none": ""} {
		names = append(names, name)
		if branch != "" {
			taken[name] = r.head(branch)
		}
	}
	for row, name := range testenv.Sample(names) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, client := range clients {
				req := getmodules.Request{Package: addrs.ParseModulePackage(client.address + "?ref=" + name)}
				check := func(how, commit string) {
					t.Helper()
					if commit != taken[name] {
						t.Errorf("?ref=%s, %s by %s: took %s, git takes %s", name, how, client.name, describeCommit(r, commit), describeCommit(r, taken[name]))
					}
				}
				fetched := (row+i)%2 == 0
				if fetched || *exhaustive {
					pkg, _, err := fetchGit(t, client.fetcher, req)
					check("fetch", takenCommit(t, err, func() string { return pkg.Revision }))
				}
				if !fetched || *exhaustive {
					ref, err := client.fetcher.Reference(t.Context(), req)
					check("check", takenCommit(t, err, func() string { return ref.Revision }))
				}
			}
		})
	}
}

func takenCommit(t *testing.T, err error, commit func() string) string {
	t.Helper()
	switch {
	case err == nil:
		return commit()
	case !errors.Is(err, getmodules.ErrRefNotFound):
		t.Error(err)
	}
	return ""
}

// gitTakes returns the commits that git fetches, by name. Names that git does not find are
// missing from the result: git reports one of them per fetch, so the fetch is repeated
// without it.
func gitTakes(t *testing.T, r *gitRepo, names []string) map[string]string {
	t.Helper()
	into := newGitRepo(t, t.TempDir(), "into.git")
	taken := map[string]string{}
	for _, name := range names {
		taken["refs/taken/"+strconv.Itoa(len(taken))] = name
	}
	for {
		args := []string{"--git-dir=" + into.dir, "fetch", "--quiet", "--depth=1", "file://" + r.dir}
		for into, name := range taken {
			if name == "" {
				name = "HEAD"
			}
			args = append(args, name+":"+into)
		}
		cmd := exec.Command("git", args...)
		cmd.Env = into.env
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		_, missing, found := strings.Cut(string(out), "couldn't find remote ref ")
		missing, _, _ = strings.Cut(missing, "\n")
		if !found {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		maps.DeleteFunc(taken, func(_, name string) bool { return name == missing })
	}
	commits := map[string]string{}
	for line := range strings.Lines(into.git("", "for-each-ref", "--format=%(refname) %(objectname) %(*objectname)", "refs/taken")) {
		fields := strings.Fields(line)
		commits[taken[fields[0]]] = fields[len(fields)-1]
	}
	return commits
}

// describeCommit returns the message of a commit, which is the name of the ref that points
// to it.
func describeCommit(r *gitRepo, commit string) string {
	if commit == "" {
		return "nothing"
	}
	return r.git("", "log", "-1", "--format=%s", commit)
}

// TestGitRivalRefs checks the warning that a name also matches a second ref.
func TestGitRivalRefs(t *testing.T) {
	t.Parallel()
	s, old := newGitServer(t), newGitServer(t)
	old.root, old.oldProtocol = s.root, true
	r := gitAmbiguous(t, s)
	for name, want := range map[string]struct{ taken, rival string }{
		"main":         {},
		"v1":           {"refs/v1", "refs/tags/v1"},
		"heads/main":   {"refs/heads/main", "refs/tags/heads/main"},
		"annotated":    {"refs/tags/annotated", "refs/heads/annotated"},
		"refs/tags/v2": {},
		"refs/tags/v1": {"refs/tags/v1", "refs/heads/refs/tags/v1"},
	} {
		var parts []string // parts of the warning
		if want.rival != "" {
			parts = []string{"?ref=" + want.taken + " or ?ref=" + want.rival}
			for _, ref := range []string{want.taken, want.rival} {
				parts = append(parts, "(commit "+r.git("", "rev-parse", ref+"^{commit}")+")")
			}
		}
		check := func(client string, server *gitServer, f *getmodules.Fetcher) {
			pkg, _, err := fetchGit(t, f, getmodules.Request{Package: server.address(r, "ref="+name)})
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
}
