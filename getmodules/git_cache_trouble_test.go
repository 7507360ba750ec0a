//go:build unix

package getmodules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

type unusableCache struct {
	name, reason string
	spoil        func(*testing.T, *getmodules.Fetcher)
}

func unusableCaches(t *testing.T) []unusableCache {
	t.Helper()
	return []unusableCache{
		{"a file", "not a directory", func(t *testing.T, f *getmodules.Fetcher) {
			f.CacheDir = filepath.Join(t.TempDir(), "cache")
			writeFile(t, f.CacheDir, "")
		}},
		{"below a file", "not a directory", func(t *testing.T, f *getmodules.Fetcher) {
			file := filepath.Join(t.TempDir(), "file")
			writeFile(t, file, "")
			f.CacheDir = filepath.Join(file, "cache")
		}},
		{"a file for the stores", "not a directory", func(t *testing.T, f *getmodules.Fetcher) {
			writeFile(t, filepath.Join(f.CacheDir, "git"), "")
		}},
		{"no permission", "permission denied", func(t *testing.T, f *getmodules.Fetcher) {
			if os.Geteuid() == 0 {
				t.Skip("root may write everywhere")
			}
			if err := os.Chmod(f.CacheDir, 0o500); err != nil {
				t.Fatal(err)
			}
		}},
		{"where nothing can be made", "no such file or directory", func(t *testing.T, f *getmodules.Fetcher) {
			// Not even root can make directories here.
			if _, err := os.Stat("/proc/self/fdinfo"); err != nil {
				t.Skip("there is no /proc")
			}
			f.CacheDir = "/proc/self/fdinfo/cache"
		}},
		{"of another user", "it belongs to another user", func(t *testing.T, f *getmodules.Fetcher) {
			dir := filepath.Join(f.CacheDir, "git")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if os.Chown(dir, 12345, 12345) != nil {
				t.Skip("only root can give directories away")
			}
		}},
	}
}

// TestGitUnusableCache checks that a cache that cannot be written to causes one warning
// and no error.
func TestGitUnusableCache(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	branch := getmodules.Request{Package: s.address(r, "ref=main")}
	later := []getmodules.Request{{Package: s.address(r, ""), Revision: first}, {Package: s.address(r, "ref="+first[:9])}}
	for i, tt := range unusableCaches(t) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newGitFetcher(t)
			tt.spoil(t, f)
			pkg, _, err := fetchGit(t, f, branch)
			if err != nil || pkg.Revision != second {
				t.Fatalf("FetchGit = %+v, %v, want %s", pkg, err, second)
			}
			want := []string{fmt.Sprintf("the cache %s cannot be written (%s); nothing is kept", f.CacheDir, tt.reason)}
			if diff := cmp.Diff(want, pkg.FetchWarnings); diff != "" {
				t.Errorf("FetchWarnings (-want +got):\n%s", diff)
			}
			requests := later
			if !*exhaustive { // the cache makes no difference to these requests
				requests = later[i%len(later):][:1]
			}
			for _, req := range requests {
				if pkg, _, err := fetchGit(t, f, req); err != nil || pkg.Revision != first || len(pkg.FetchWarnings) > 0 {
					t.Errorf("a later FetchGit = %+v, %v, want %s and no warning", pkg, err, first)
				}
			}
			if _, err := f.Tags(t.Context(), getmodules.Request{Package: s.address(r, "")}); err != nil {
				t.Errorf("Tags: %v", err)
			}
		})
	}
}

// TestGitOutsideRepository runs in a repository whose configuration starts programs. It
// checks that git commands that need no repository ignore it.
func TestGitOutsideRepository(t *testing.T) {
	s := newGitServer(t)
	r, first, _ := gitMainTF(t, s)
	r.setRef("refs/tags/v1", first)
	mark := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	gitScript(t, evil, "touch "+mark)
	work := newGitRepo(t, t.TempDir(), "work.git")
	for _, key := range []string{"core.sshCommand", "core.askPass", "credential.helper", "core.gitProxy"} {
		work.git("", "config", key, evil)
	}
	work.git("", "config", "url.file:///nowhere/.insteadOf", s.URL)
	t.Chdir(work.dir)
	f := newGitFetcher(t)
	if tags, err := f.Tags(t.Context(), getmodules.Request{Package: s.address(r, "")}); err != nil || len(tags) != 1 {
		t.Errorf("Tags = %v, %v", tags, err)
	}
	// This address has no server.
	_, err := f.Tags(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("git::ssh://git@127.0.0.1:1/net.git")})
	if err == nil {
		t.Error("Tags of nothing succeed")
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the working directory's repository was run")
	}
}
