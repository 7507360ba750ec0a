package getmodules_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

// BenchmarkGitFetch fetches a package of 200 files: without a cache ("cold"), from a store
// that already has the commit ("warm"), and by a tag that has not moved ("unmoved").
func BenchmarkGitFetch(b *testing.B) {
	s := newGitServer(b)
	r := newGitRepo(b, s.root, "net.git")
	var files []gitFile
	for i := range 200 {
		files = append(files, gitFile{path: fmt.Sprintf("modules/m%d/main.tf", i), content: strings.Repeat(fmt.Sprintln("# line", i), 100)})
	}
	commit := r.commit("main", files...)
	r.setRef("refs/tags/v1.0.0", r.head("refs/heads/main"))
	address := s.address(r, "ref=v1.0.0")

	fetch := func(b *testing.B, f *getmodules.Fetcher, revision string) {
		dir := filepath.Join(b.TempDir(), "tree")
		if _, err := f.FetchGit(b.Context(), getmodules.Request{Package: address, Revision: revision, Dir: dir}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		f := newGitFetcher(b)
		f.CacheDir = ""
		for b.Loop() {
			fetch(b, f, "")
		}
	})
	b.Run("warm", func(b *testing.B) {
		f := newGitFetcher(b)
		fetch(b, f, commit)
		for b.Loop() {
			fetch(b, f, commit)
		}
	})
	b.Run("unmoved", func(b *testing.B) {
		f := newGitFetcher(b)
		for b.Loop() {
			fetch(b, f, "")
		}
	})
}
