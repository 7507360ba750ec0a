package gitwire_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitwire"
)

const history = `commit refs/heads/main
mark :1
committer a <a@example.com> 1700000000 +0000
data 3
one
M 100644 inline a
data 3
old

commit refs/heads/main
committer a <a@example.com> 1700000001 +0000
data 3
two
M 100644 inline a
data 3
new
M 100644 inline d/b
data 1
b
tag v1
from refs/heads/main
tagger a <a@example.com> 1700000002 +0000
data 2
v1
reset refs/tags/light
from :1
`

// TestRefs compares the list of refs with the output of git ls-remote.
func TestRefs(t *testing.T) {
	t.Parallel()
	s, run := gitServer(t)
	run(history, "fast-import", "--quiet")
	for _, prefixes := range [][]string{{"refs/tags/"}, {"refs/"}, {"HEAD"}, {"refs/heads/main", "refs/tags/v1"}, {"refs/none/"}} {
		got, err := s.client(t, "/r.git").Refs(t.Context(), prefixes...)
		if err != nil {
			t.Fatalf("Refs(%q) = %v", prefixes, err)
		}
		want := git.Refs{}
		for line := range strings.Lines(run("", "ls-remote", s.URL+"/r.git")) {
			id, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
				want.Add(id, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Refs(%q) (-git +ours):\n%s", prefixes, diff)
		}
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	s, run := gitServer(t)
	run(history, "fast-import", "--quiet")
	tests := []struct {
		want    string
		objects []string
	}{
		{"main", []string{"main", "main:", "main:a", "main:d", "main:d/b"}},
		{"v1", []string{"v1", "main", "main:", "main:a", "main:d", "main:d/b"}},
		{"main~1", []string{"main~1", "main~1:", "main~1:a"}},
	}
	for _, tt := range tests {
		before := len(s.requests())
		var told int64
		f := gitwire.Fetch{Want: []string{run("", "rev-parse", tt.want)}, Shallow: true, Bytes: 1 << 20, Progress: func(bytes int64) { told = bytes }}
		objects, err := fetchAll(t.Context(), t, s.client(t, "/r.git"), f, generous)
		if err != nil {
			t.Fatalf("Fetch(%q) = %v", tt.want, err)
		}
		if size, _ := objects.Wait(); told != size || told == 0 {
			t.Errorf("Progress was told %d in the end, and the pack has %d bytes", told, size)
		}
		if n := len(s.requests()) - before; n != 1 {
			t.Errorf("Fetch(%q) made %d requests, want 1", tt.want, n)
		}
		if objects.Len() != len(tt.objects) {
			t.Errorf("Fetch(%q) brought %d objects, want %d", tt.want, objects.Len(), len(tt.objects))
		}
		for _, name := range tt.objects {
			id := run("", "rev-parse", name)
			kind, _, ok := objects.Stat(id)
			if !ok || string(kind) != run("", "cat-file", "-t", id) {
				t.Errorf("Fetch(%q): %s is a %v, %v", tt.want, name, kind, ok)
			}
		}
	}
	_, err := fetch(t, s.client(t, "/r.git"), strings.Repeat("1", 40))
	if said, ok := errors.AsType[*gitwire.RemoteError](err); !ok || !strings.Contains(said.Message, "not our ref") {
		t.Errorf("Fetch of an unknown commit = %v, want a RemoteError", err)
	}
	if _, err := fetch(t, s.client(t, "/none.git"), strings.Repeat("1", 40)); !errors.As(err, new(*gitwire.StatusError)) {
		t.Errorf("Fetch of no repository = %v, want a StatusError", err)
	}
}

// TestOldServer uses a server that supports only protocol version 0.
func TestOldServer(t *testing.T) {
	t.Parallel()
	backend, run := gitServer(t)
	run(history, "fast-import", "--quiet")
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Git-Protocol")
		backend.Config.Handler.ServeHTTP(w, r)
	})
	if _, err := s.client(t, "/r.git").Refs(t.Context(), "refs/"); !errors.Is(err, gitwire.ErrOldProtocol) {
		t.Errorf("Refs = %v, want ErrOldProtocol", err)
	}
	if _, err := fetch(t, s.client(t, "/r.git"), run("", "rev-parse", "main")); !errors.Is(err, gitwire.ErrOldProtocol) {
		t.Errorf("Fetch = %v, want ErrOldProtocol", err)
	}
}
