package getmodules_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// TestTagsAmongManyRefs checks that the cost of listing tags depends on the number of
// tags, not on the number of branches and pull requests.
func TestTagsAmongManyRefs(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "many.git")
	commit := r.commit("main", gitFile{path: "main.tf", content: "x"})
	const tags, others = 500, 50_000
	var packed strings.Builder
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range others {
		fmt.Fprintf(&packed, "%s refs/heads/branch-%06d\n%s refs/pull/%06d/head\n", commit, i, commit, i)
	}
	for i := range tags {
		fmt.Fprintf(&packed, "%s refs/tags/v1.%d.0\n", commit, i)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "packed-refs"), []byte(packed.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var bytes, requests atomic.Int64
	counted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		requests.Add(1)
		s.Config.Handler.ServeHTTP(countingWriter{w, &bytes}, req)
	}))
	defer counted.Close()
	for _, alwaysGit := range []bool{false, true} {
		bytes.Store(0)
		requests.Store(0)
		f := newGitFetcher(t)
		f.AlwaysGit = alwaysGit
		got, err := f.Tags(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("git::" + counted.URL + "/many.git")})
		if err != nil || len(got) != tags {
			t.Fatalf("Tags = %d, %v; want %d", len(got), err, tags)
		}
		if bytes.Load() > 100<<10 || requests.Load() > 2 {
			t.Errorf("AlwaysGit %v: %d bytes in %d answers", alwaysGit, bytes.Load(), requests.Load())
		}
	}
}

type countingWriter struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (w countingWriter) Write(p []byte) (int, error) {
	w.bytes.Add(int64(len(p)))
	return w.ResponseWriter.Write(p)
}
