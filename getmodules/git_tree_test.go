package getmodules_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
)

// gitListing returns a line for each file, link and empty directory of a tree.
func gitListing(t testing.TB, dir string) []string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		line := fmt.Sprintf("%v %s", info.Mode(), filepath.ToSlash(rel))
		if target, err := os.Readlink(path); err == nil {
			line = fmt.Sprintf("link %s -> %s", filepath.ToSlash(rel), target)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestGitTree(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	gitlink := strings.Repeat("1", 40)
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 1\n"
	r.commit("main",
		gitFile{path: "main.tf", content: "x\r\n$Id$\n"},
		gitFile{path: "empty"},
		gitFile{path: "bin/run", mode: "100755", content: "#!/bin/sh\n"},
		gitFile{path: "a/b/c/deep.tf", content: "deep"},
		gitFile{path: "link", mode: "120000", content: "a/b/c/deep.tf"},
		gitFile{path: "dirlink", mode: "120000", content: "a/b"},
		gitFile{path: "vendored", mode: "160000", content: gitlink},
		gitFile{path: "modules/sub", mode: "160000", content: gitlink},
		gitFile{path: "big.zip", content: pointer},
		gitFile{path: "long.txt", content: pointer + strings.Repeat("x", 1024)},
		gitFile{path: ".gitattributes", content: "*.tf text ident\nmain.tf export-ignore\n"},
		gitFile{path: ".gitmodules", content: "[submodule \"x\"]\n\tpath = vendored\n\turl = ../evil\n"},
	)
	pkg, dir, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, "")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"modules/sub", "vendored"}, pkg.Gitlinks); diff != "" {
		t.Errorf("Gitlinks (-want +got):\n%s", diff)
	}
	warnings := strings.Join(pkg.Warnings, "\n")
	if !strings.Contains(warnings, `submodules are not fetched: "modules/sub", "vendored"`) {
		t.Errorf("Warnings = %q, want the submodules", warnings)
	}
	if !strings.Contains(warnings, `: "big.zip"`) || strings.Contains(warnings, "long.txt") {
		t.Errorf("Warnings = %q, want just big.zip as a pointer", warnings)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "main.tf")); string(got) != "x\r\n$Id: 533dd1a278a19e2719c720ed3d8a1c38556609d5 $\n" {
		t.Errorf("main.tf = %q", got)
	}
	want := []string{
		"-rw-r--r-- .gitattributes",
		"-rw-r--r-- .gitmodules",
		"-rw-r--r-- a/b/c/deep.tf",
		"-rw-r--r-- big.zip",
		"-rwxr-xr-x bin/run",
		"link dirlink -> a/b",
		"-rw-r--r-- empty",
		"link link -> a/b/c/deep.tf",
		"-rw-r--r-- long.txt",
		"-rw-r--r-- main.tf",
	}
	if diff := cmp.Diff(want, gitListing(t, dir)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

func TestGitFsckRefuses(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	commit := r.rawCommit("main", gitRawEntry{"40000", ".git", r.rawTree(gitRawEntry{"100644", "x", r.blob("x")})})
	f := newGitFetcher(t)
	if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref="+commit)}); err == nil {
		t.Error("FetchGit of a tree with .git = nil error")
	}
}

func TestGitOldFaults(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	sub := r.rawTree(gitRawEntry{"100664", "x.tf", r.blob("x")})
	want := r.rawCommit("main", gitRawEntry{"040000", "sub", sub})
	pkg, dir, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, "")})
	if err != nil || pkg.Revision != want {
		t.Fatalf("FetchGit of a tree with padded modes = %v, %v", pkg, err)
	}
	if diff := cmp.Diff([]string{"-rw-r--r-- sub/x.tf"}, gitListing(t, dir)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

func TestGitLimits(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	noise := make([]byte, 0, 1<<15)
	for i := range 1 << 13 {
		noise = fmt.Appendf(noise, "%x", i*i*7919)
	}
	r.commit("main", gitFile{path: "a", content: string(noise)}, gitFile{path: "b/c", content: "x"})
	tree := r.rawTree(gitRawEntry{"100644", "x", r.blob("x")})
	for range 20 { // 2^20 files, but only about 20 objects
		tree = r.rawTree(gitRawEntry{"40000", "a", tree}, gitRawEntry{"40000", "b", tree})
	}
	r.rawCommit("bomb", gitRawEntry{"40000", "a", tree})
	deep := r.rawTree(gitRawEntry{"100644", "x", r.blob("x")})
	for range 200 {
		deep = r.rawTree(gitRawEntry{"40000", "d", deep})
	}
	r.rawCommit("deep", gitRawEntry{"40000", "d", deep})

	tests := []struct {
		name, ref string
		limits    getmodules.Limits
	}{
		{"download", "main", getmodules.Limits{DownloadBytes: 1000}},
		{"tree", "main", getmodules.Limits{TreeBytes: 1000}},
		{"file", "main", getmodules.Limits{FileBytes: 1000}},
		{"entries", "main", getmodules.Limits{Entries: 2}},
		{"bomb", "bomb", getmodules.Limits{}},
		{"deep", "deep", getmodules.Limits{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newGitFetcher(t)
			f.Limits = tt.limits
			if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref="+tt.ref)}); err == nil {
				t.Error("FetchGit = nil error")
			}
		})
	}
}

func TestGitSHA256(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git", "--object-format=sha256")
	commit := r.commit("main", gitFile{path: "main.tf", content: "x"}, gitFile{path: "a/b", content: "y"})
	r.setRef("refs/tags/v1", commit)
	f := newGitFetcher(t)
	for _, query := range []string{"ref=v1", "ref=" + commit, "ref=v1", "", "ref=" + commit[:10]} {
		pkg, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, query)})
		if err != nil || pkg.Revision != commit {
			t.Errorf("FetchGit(%q) = %+v, %v, want %s", query, pkg, err, commit)
		}
	}
}
