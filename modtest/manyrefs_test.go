package modtest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

func TestManyRefs(t *testing.T) {
	t.Parallel()
	tree := modtest.Txtar("-- git/net.git/v0.0.1/main.tf --\n# one\n-- git/net.git/v1.0.0/main.tf --\n# two\n")
	world := modtest.NewWith(t, tree, modtest.Options{ManyRefs: 3, ManyTags: 52})
	first, newest := commit(t, world, "net.git", "v0.0.1"), commit(t, world, "net.git", "v1.0.0")
	got := map[string]string{}
	for line := range strings.Lines(git(t, world, "ls-remote", world.URL()+"/git/net.git")) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		got[name] = id
	}
	if want := 52 + 3 + len([]string{"HEAD", "main", "v1.0.0"}); len(got) != want {
		t.Errorf("%d refs, want %d", len(got), want)
	}
	want := map[string]string{
		"HEAD": newest, "refs/heads/main": newest, "refs/heads/branch-0": newest, "refs/pull/1/head": newest, "refs/heads/branch-2": newest,
		"refs/tags/v0.0.0": newest, "refs/tags/v0.0.1": first, "refs/tags/v0.0.49": newest, "refs/tags/v0.1.1": newest, "refs/tags/v1.0.0": newest,
	}
	for name := range got {
		if _, asked := want[name]; !asked {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refs (-want +got):\n%s", diff)
	}
	testenv.Must(t, world.PublishTag("net.git", "v2.0.0", modtest.Txtar("-- main.tf --\n# three\n")))
	testenv.Must(t, world.MoveTag("net.git", "v0.0.1", modtest.Txtar("-- main.tf --\n# four\n")))
	out := git(t, world, "ls-remote", world.URL()+"/git/net.git", "v2.0.0", "v0.0.1", "branch-0")
	for _, line := range []string{commit(t, world, "net.git", "v2.0.0") + "\trefs/tags/v2.0.0", commit(t, world, "net.git", "v0.0.1") + "\trefs/tags/v0.0.1", newest + "\trefs/heads/branch-0"} {
		if !strings.Contains(out, line+"\n") {
			t.Errorf("ls-remote = %q, want %q in it", out, line)
		}
	}
}

func TestBytesSent(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	world := modtest.New(t, modtest.Txtar("-- files/a --\n"+strings.Repeat("x", size)))
	for _, url := range []string{world.URL(), world.PlainURL()} {
		before := world.BytesSent()
		get(t, world, url+"/files/a")
		if sent := world.BytesSent() - before; sent < size || sent > size+size/10 {
			t.Errorf("%s sent %d bytes for a file of %d", url, sent, size)
		}
	}
}
