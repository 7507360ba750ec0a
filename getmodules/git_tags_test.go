package getmodules_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/google/go-cmp/cmp"
)

func TestWireTags(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	r.setRef("refs/tags/v1", first)
	r.annotate("v2", second)
	r.annotateTag("v3", "v2")
	r.setRef("refs/heads/no-tag", r.head("refs/heads/main"))
	req := getmodules.Request{Package: s.address(r, "")}
	want, err := newGitFetcher(t).Tags(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*getmodules.Fetcher{"wire": newWireFetcher(t), "built-in": newBuiltInFetcher(t)} {
		s.count()
		got, err := f.Tags(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if n := s.count(); n != 1 {
			t.Errorf("Tags by %s made %d requests, want 1", name, n)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) != 3 {
			t.Errorf("Tags (-git +%s):\n%s", name, diff)
		}
	}
	for _, tag := range []string{"v1", "v2", "v3"} {
		r.git("", "tag", "--delete", tag)
	}
	if got, err := newWireFetcher(t).Tags(t.Context(), req); err != nil || len(got) > 0 {
		t.Errorf("Tags of a repository without tags = %v, %v", got, err)
	}
	none := getmodules.Request{Package: addrs.ParseModulePackage(strings.TrimSuffix(req.Package.String(), "net.git") + "none.git")}
	if _, err := newWireFetcher(t).Tags(t.Context(), none); !errors.Is(err, getmodules.ErrRepositoryNotFound) {
		t.Errorf("Tags of no repository = %v, want ErrRepositoryNotFound", err)
	}
}
