package modtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const twoTags = `
-- git/net.git/v1.0.0/main.tf --
# one
-- git/net.git/v1.0.0/gone.tf --
-- git/net.git/v1.10.0/main.tf --
# ten
-- git/net.git/v1.9.0/main.tf --
# nine
-- git/net.git/sub%2Fv3.0.0/main.tf --
# three
`

// The id of a commit stands for its files, parents, author, date and message.
func TestGitCommitsNeverChange(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(twoTags))
	want := map[string]string{
		"sub/v3.0.0": "4947286f21a4a40e947e6a1750623ec1acd93301",
		"v1.0.0":     "aa735431d3417752ef3e88bd3f2bb40c758b5fc9",
		"v1.9.0":     "1152a77dc2bf02327841fedf17883fdd5c9f354f",
		"v1.10.0":    "ce55a151893e603a304787ec3ae4b6df1ca6fcac",
	}
	for tag, id := range want {
		if got := commit(t, world, "net.git", tag); got != id {
			t.Errorf("Commit(%q) = %s, want %s", tag, got, id)
		}
	}
	if got := commit(t, world, "net.git", "_HEAD"); got != want["v1.10.0"] {
		t.Errorf("main is at %s, want the newest version", got)
	}
}

func TestGitKeepsModesAndLinks(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, fstest.MapFS{
		"git/net.git/v1.0.0/run.sh":         {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
		"git/net.git/v1.0.0/a \"b\" \\c.tf": {Data: []byte("# MODTEST_HOST\n")},
		"git/net.git/v1.0.0/link":           {Data: []byte("run.sh"), Mode: fs.ModeSymlink},
	})
	clone := t.TempDir()
	git(t, world, "clone", "--quiet", world.URL()+"/git/net.git", clone)
	var got []string
	for entry := range strings.SplitSeq(git(t, world, "-C", clone, "ls-tree", "-z", "v1.0.0"), "\x00") {
		if mode, rest, ok := strings.Cut(entry, " "); ok {
			got = append(got, mode+rest[strings.Index(rest, "\t"):])
		}
	}
	want := []string{"100644\ta \"b\" \\c.tf", "120000\tlink", "100755\trun.sh"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	data, err := os.ReadFile(filepath.Join(clone, "a \"b\" \\c.tf"))
	if want := "# " + string(world.Host()) + "\n"; err != nil || string(data) != want {
		t.Errorf("file = %q, %v, want the placeholder expanded: %q", data, err, want)
	}
}

func TestGitFetchByCommit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		opts     modtest.Options
		protocol string
		want     bool
	}{
		{"v2", modtest.Options{}, "2", true},
		{"v0", modtest.Options{}, "0", true},
		{"refused in v2", modtest.Options{RefuseCommits: true}, "2", false},
		{"refused in v0", modtest.Options{RefuseCommits: true}, "0", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			world := modtest.NewWith(t, modtest.Txtar(twoTags), test.opts)
			old := commit(t, world, "net.git", "v1.0.0")
			testenv.Must(t, world.MoveTag("net.git", "v1.0.0", modtest.Txtar("-- main.tf --\n# moved\n")))
			dir := t.TempDir()
			git(t, world, "init", "--quiet", dir)
			out, err := tryGit(t, world, dir, "-c", "protocol.version="+test.protocol, "fetch", "--depth=1", world.URL()+"/git/net.git", old)
			if got := err == nil; got != test.want {
				t.Errorf("fetch of a commit without a ref: ok = %v, want %v\n%s", got, test.want, out)
			}
		})
	}
}

func TestMoveTag(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]modtest.Options{"lightweight": {}, "annotated": {AnnotatedTags: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := modtest.NewWith(t, modtest.Txtar(twoTags), opts)
			old, head := commit(t, world, "net.git", "v1.0.0"), commit(t, world, "net.git", "_HEAD")
			for range 2 {
				testenv.Must(t, world.MoveTag("net.git", "v1.0.0", modtest.Txtar("-- main.tf --\n# moved\n")))
			}
			moved := commit(t, world, "net.git", "v1.0.0")
			if moved == old {
				t.Errorf("MoveTag left the tag at %s", old)
			}
			refs := git(t, world, "ls-remote", world.URL()+"/git/net.git")
			ref := "refs/tags/v1.0.0\n"
			if opts.AnnotatedTags {
				ref = "refs/tags/v1.0.0^{}\n"
			}
			for _, line := range []string{moved + "\t" + ref, head + "\trefs/heads/main\n", head + "\tHEAD\n"} {
				if !strings.Contains(refs, line) {
					t.Errorf("ls-remote lacks %q:\n%s", line, refs)
				}
			}
		})
	}
}

func TestPublishTag(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "git")
	world := modtest.New(t, modtest.Txtar(""))
	for _, tag := range []string{"v1.0.0", "sub/v1.1.0"} {
		testenv.Must(t, world.PublishTag("a/new.git", tag, modtest.Txtar("-- main.tf --\n# "+tag+"\n")))
	}
	one, two := commit(t, world, "a/new.git", "v1.0.0"), commit(t, world, "a/new.git", "sub/v1.1.0")
	want := two + "\tHEAD\n" + two + "\trefs/heads/main\n" + two + "\trefs/tags/sub/v1.1.0\n" + one + "\trefs/tags/v1.0.0\n"
	if diff := cmp.Diff(want, git(t, world, "ls-remote", world.URL()+"/git/a/new.git")); diff != "" {
		t.Errorf("ls-remote (-want +got):\n%s", diff)
	}
}

// Git sends large requests compressed or in chunks, but CGI does not support chunks.
func TestGitLargeRequest(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "git")
	world := modtest.New(t, modtest.Txtar(twoTags))
	for i := range 40 {
		tag := "t" + strings.Repeat("x", i)
		testenv.Must(t, world.PublishTag("net.git", tag, modtest.Txtar("-- main.tf --\n# "+tag+"\n")))
	}
	for name, test := range map[string]struct {
		setting string
		sent    func(modtest.Request) bool
	}{
		"compressed": {"http.postBuffer=1048576", func(r modtest.Request) bool { return r.Header.Get("Content-Encoding") == "gzip" }},
		// With the smallest possible buffer, git sends chunks.
		"chunked": {"http.postBuffer=1024", func(r modtest.Request) bool { return r.Method == "POST" && r.Header.Get("Content-Length") == "" }},
	} {
		world.ResetRequests()
		clone := t.TempDir()
		git(t, world, "-c", test.setting, "-c", "protocol.version=0", "clone", "--quiet", world.URL()+"/git/net.git", clone)
		if !slices.ContainsFunc(world.Requests(), test.sent) {
			t.Errorf("%s: git sent no such request, so nothing was tested", name)
		}
		if got := strings.Count(git(t, world, "-C", clone, "tag"), "\n"); got != 44 {
			t.Errorf("%s: cloned %d tags, want 44", name, got)
		}
	}
}

func TestDeleteTagAndReplaceRepository(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(twoTags))
	old := commit(t, world, "net.git", "v1.0.0")
	testenv.Must(t, world.DeleteTag("net.git", "v1.0.0"))
	if refs := git(t, world, "ls-remote", world.URL()+"/git/net.git"); strings.Contains(refs, "v1.0.0") {
		t.Errorf("after DeleteTag ls-remote has:\n%s", refs)
	}
	testenv.Must(t, world.ReplaceRepository("net.git", "v1.0.0", modtest.Txtar("-- main.tf --\n# other\n")))
	other := commit(t, world, "net.git", "v1.0.0")
	refs := git(t, world, "ls-remote", world.URL()+"/git/net.git")
	want := []string{other, "HEAD", other, "refs/heads/main", other, "refs/tags/v1.0.0"}
	if got := strings.Fields(refs); !slices.Equal(got, want) || other == old {
		t.Errorf("after ReplaceRepository ls-remote has %v, want %v, another commit than %s", got, want, old)
	}
}

func TestGitRefusesTag(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar("-- git/net.git/a@{b/main.tf --\n"))
	_, err := world.Commit("net.git", "a@{b")
	if err == nil || !strings.Contains(err.Error(), "git allows no tag") {
		t.Errorf("Commit = %v, want that git allows no such tag", err)
	}
	if r := get(t, world, "/git/net.git/info/refs"); r.status != 500 {
		t.Errorf("repository that cannot be made = %d %q, want 500", r.status, r.body)
	}
}
