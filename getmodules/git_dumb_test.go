package getmodules_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestGitDumb fetches from a server that only has the files of a repository, as single objects and in a pack.
func TestGitDumb(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	r.annotate("v1.0.0", first)
	r.setRef("refs/tags/v1.1.0", second)
	files := httptest.NewServer(http.FileServer(http.Dir(s.root)))
	t.Cleanup(files.Close)
	address := func(query string) addrs.ModulePackage {
		return addrs.ParseModulePackage("git::" + files.URL + "/" + filepath.Base(r.dir) + query)
	}
	for _, packed := range []bool{false, true} {
		if packed {
			r.git("", "repack", "-a", "-d", "-q")
			r.git("", "pack-refs", "--all")
		}
		r.git("", "update-server-info")
		clients := testenv.SampleMap(userClients, map[bool]string{false: "git", true: "in process"}[packed]) // our own leaves it to git
		for _, newFetcher := range clients {
			fetcher := newFetcher(t)
			type row struct{ kind, query, revision, want string }
			rows := []row{
				{"name", "?ref=v1.0.0", "", first},
				{"name", "?ref=v1.1.0", "", second},
				{"HEAD", "", "", second},
				{"commit", "?ref=" + first, "", first},
				{"commit", "?ref=v1.0.0", first, first},
				{"moved tag", "?ref=v1.1.0", first, first},
			}
			for _, test := range testenv.Sample(rows, func(r row) string { return r.kind }) {
				for range 2 { // the second one finds what the cache has
					pkg, dir, err := fetchGit(t, fetcher, getmodules.Request{Package: address(test.query), Revision: test.revision})
					if err != nil || pkg.Revision != test.want {
						t.Errorf("packed %t: FetchGit(%q, %q) = %v, %v, want %s", packed, test.query, test.revision, pkg, err, test.want)
						continue
					}
					if _, err := os.Stat(filepath.Join(dir, "main.tf")); err != nil {
						t.Errorf("FetchGit(%q): %v", test.query, err)
					}
				}
			}
			if _, _, err := fetchGit(t, fetcher, getmodules.Request{Package: address("?ref=v9")}); !errors.Is(err, getmodules.ErrRefNotFound) {
				t.Errorf("FetchGit of a ref that is not there = %v, want ErrRefNotFound", err)
			}
			missing := strings.Repeat("1", 40)
			if _, _, err := fetchGit(t, fetcher, getmodules.Request{Package: address("?ref=" + missing)}); !errors.Is(err, getmodules.ErrRevisionNotFound) {
				t.Errorf("FetchGit of a commit that is not there = %v, want ErrRevisionNotFound", err)
			}
		}
	}
}

// TestGitDumbLimit has an object that is larger than the limit of a transfer, and does not compress.
func TestGitDumbLimit(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, _, _ := gitMainTF(t, s)
	noise := make([]byte, 0, 1<<20)
	for x := uint32(1); len(noise) < cap(noise); {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		noise = append(noise, byte(x))
	}
	r.commit("main", gitFile{path: "noise", content: string(noise)})
	r.git("", "update-server-info")
	files := httptest.NewServer(http.FileServer(http.Dir(s.root)))
	t.Cleanup(files.Close)
	f := newGitFetcher(t)
	f.Limits.DownloadBytes = 256 << 10
	_, _, err := fetchGit(t, f, getmodules.Request{Package: addrs.ParseModulePackage("git::" + files.URL + "/" + filepath.Base(r.dir))})
	if !errors.Is(err, getmodules.ErrTooLarge) {
		t.Errorf("FetchGit of more than the limit = %v, want ErrTooLarge", err)
	}
}
