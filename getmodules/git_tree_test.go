package getmodules_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/testenv"
)

var (
	lfsPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 1\n"
	noise      = wireNoise(1 << 18)
)

// commitTrees makes a branch for each kind of tree, valid and invalid.
func commitTrees(r *gitRepo) {
	gitlink := strings.Repeat("1", 40)
	r.commit("everything",
		gitFile{path: "main.tf", content: "x\r\n$Id$\n"}, gitFile{path: "empty"},
		gitFile{path: "bin/run", mode: "100755", content: "#!/bin/sh\n"},
		gitFile{path: "a/b/c/deep.tf", content: "deep"}, gitFile{path: "a.b", content: "x"}, gitFile{path: "a-b/c", content: "x"},
		gitFile{path: "link", mode: "120000", content: "a/b/c/deep.tf"}, gitFile{path: "dirlink", mode: "120000", content: "a/b"},
		gitFile{path: "vendored", mode: "160000", content: gitlink}, gitFile{path: "modules/sub", mode: "160000", content: gitlink},
		gitFile{path: "big.zip", content: lfsPointer}, gitFile{path: "long.txt", content: lfsPointer + strings.Repeat("x", 1024)},
		gitFile{path: ".gitattributes", content: "*.tf text ident\nmain.tf export-ignore\n"},
		gitFile{path: ".gitmodules", content: "[submodule \"x\"]\n\tpath = vendored\n\turl = ../evil\n"},
		gitFile{path: "noise", content: noise})
	r.commit("large", gitFile{path: ".gitattributes", content: "* text eol=crlf ident\n"},
		gitFile{path: "large", content: strings.Repeat("large\n", 3<<19)}) // more than v2Memory
	r.commit("many", wireManyFiles()...)
	r.git("", "repack", "--quiet", "-adf", "--depth=200", "--window=20")
	r.commit("huge", gitFile{path: "huge", content: strings.Repeat("x", 17<<20)}, gitFile{path: "small", content: "x"}) // it goes through files
	blob := r.blob("x")
	x := treeEntry("100644", "x", blob)
	r.rawCommit("old", treeEntry("040000", "sub", r.rawTree(treeEntry("100664", "x.tf", blob))))
	r.rawCommit("hollow", treeEntry("40000", "empty", r.rawTree()), x)
	r.rawCommit("nothing")
	r.rawCommit("git", treeEntry("40000", ".git", r.rawTree(x)))
	r.rawCommit("twice", x, treeEntry("100644", "x", r.blob("y")))
	r.rawCommit("unsorted", x, treeEntry("100644", "a", blob))
	r.rawCommit("both", treeEntry("100644", "a", blob), treeEntry("40000", "a", r.rawTree(x)))
	r.rawCommit("outside", treeEntry("120000", "a", r.blob("../../etc")))
	bomb, deep := r.rawTree(x), r.rawTree(x)
	for range 20 { // 2^20 files, but only about 20 objects
		bomb = r.rawTree(treeEntry("40000", "a", bomb), treeEntry("40000", "b", bomb))
	}
	for range 200 {
		deep = r.rawTree(treeEntry("40000", "d", deep))
	}
	r.rawCommit("bomb", treeEntry("40000", "a", bomb))
	r.rawCommit("deep", treeEntry("40000", "d", deep))
}

// TestGitTrees fetches all kinds of trees with our own client as with git.
func TestGitTrees(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	commitTrees(r)
	want := map[string]map[string]string{
		"everything": {
			"main.tf": "x\r\n$Id: 533dd1a278a19e2719c720ed3d8a1c38556609d5 $\n", "empty": "", "bin": "dir", "bin/run": "exec:#!/bin/sh\n",
			"a": "dir", "a/b": "dir", "a/b/c": "dir", "a/b/c/deep.tf": "deep", "a.b": "x", "a-b": "dir", "a-b/c": "x", "modules": "dir",
			"link": "link:a/b/c/deep.tf", "dirlink": "link:a/b", "big.zip": lfsPointer, "long.txt": lfsPointer + strings.Repeat("x", 1024),
			".gitattributes": "*.tf text ident\nmain.tf export-ignore\n", ".gitmodules": "[submodule \"x\"]\n\tpath = vendored\n\turl = ../evil\n", "noise": noise,
		},
		"old":     {"sub": "dir", "sub/x.tf": "x"},
		"nothing": nil, "outside": nil, "twice": nil,
	}
	for _, tt := range []struct {
		ref      string
		requests int
	}{
		{"everything", 2}, {"large", 2}, {"many", 2}, {"old", 2}, {"hollow", 2},
		{"huge", 2}, {"unsorted", 2 + 3}, {"twice", 2 + 3},
		{"nothing", 2}, {"outside", 2},
	} {
		t.Run(tt.ref, func(t *testing.T) {
			got, n := wireSame(t, s, "file://"+s.root, getmodules.Request{Package: s.address(r, "ref="+tt.ref)})
			if n != tt.requests {
				t.Errorf("FetchGit(%q) made %d requests, want %d", tt.ref, n, tt.requests)
			}
			if want, ok := want[tt.ref]; ok {
				if diff := cmp.Diff(want, got.Tree); diff != "" {
					t.Errorf("tree (-want +got):\n%s", diff)
				}
			}
			if tt.ref != "everything" {
				return
			}
			if diff := cmp.Diff([]string{"modules/sub", "vendored"}, got.Package.Gitlinks); diff != "" {
				t.Errorf("Gitlinks (-want +got):\n%s", diff)
			}
			warnings := strings.Join(got.Package.Warnings, "\n")
			if !strings.Contains(warnings, `submodules are not fetched: "modules/sub", "vendored"`) || !strings.Contains(warnings, `: "big.zip"`) || strings.Contains(warnings, "long.txt") {
				t.Errorf("Warnings = %q, want the submodules and just big.zip as a pointer", warnings)
			}
		})
	}
	for client, fetcher := range testenv.SampleMap(gitClients, "git", "in process") {
		for _, tt := range []struct {
			ref    string
			limits getmodules.Limits
		}{
			{ref: "git"}, {ref: "both"}, {ref: "bomb"}, {ref: "deep"},
			{"everything", getmodules.Limits{DownloadBytes: 1 << 16}},
			{"everything", getmodules.Limits{TreeBytes: 1 << 16}},
			{"everything", getmodules.Limits{FileBytes: 1 << 16}},
			{"everything", getmodules.Limits{Entries: 5}},
		} {
			f := fetcher(t)
			f.Limits = tt.limits
			_, _, err := fetchTree(t, f, getmodules.Request{Package: s.local(client, r, "ref="+tt.ref)})
			if err == nil || tt.ref == "everything" && !errors.Is(err, getmodules.ErrTooLarge) {
				t.Errorf("FetchGit(%q) by %s with %+v = %v", tt.ref, client, tt.limits, err)
			}
		}
		_, _, err := fetchGitIn(packagelimits.NewDisk(1<<14).In(t.Context()), t, fetcher(t), getmodules.Request{Package: s.local(client, r, "ref=everything")})
		if over, ok := errors.AsType[*getmodules.LimitError](err); !ok || over.Limit != getmodules.LimitRun || over.Path != "" {
			t.Errorf("FetchGit by %s in a run that may write 16 KiB = %v, want an error about the run, and no file", client, err)
		}
		// The limit is named that the user can raise, also if the pack alone exceeds it.
		f := fetcher(t)
		f.Limits = getmodules.Limits{Entries: 100}
		_, _, err = fetchTree(t, f, getmodules.Request{Package: s.local(client, r, "ref=many")})
		if over, ok := errors.AsType[*getmodules.LimitError](err); !ok || over.Limit != getmodules.LimitEntries || over.Max != 100 {
			t.Errorf("FetchGit(many) by %s = %v, want a LimitError", client, err)
		}
	}
}

// wireNoise returns text that compresses badly.
func wireNoise(size int) string {
	var b strings.Builder
	for state := uint64(88172645463325252); b.Len() < size; {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		fmt.Fprintf(&b, "%016x", state)
	}
	return b.String()[:size]
}

// wireManyFiles returns files that each differ a little from the previous one, so that git
// makes deltas of deltas.
func wireManyFiles() []gitFile {
	var files []gitFile
	body := strings.Repeat("the quick brown fox jumps over the lazy dog\n", 30)
	for i := range 300 {
		body = body[:7*(i%150)] + fmt.Sprintf("line %d ", i*i) + body[7*(i%150)+6:]
		files = append(files, gitFile{path: fmt.Sprintf("d%d/e%d/f%d.tf", i%10, i%70, i), content: body})
	}
	return files
}

func TestGitSHA256(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git", "--object-format=sha256")
	commit := r.commit("main", gitFile{path: "main.tf", content: "x"}, gitFile{path: "a/b", content: "y"})
	r.setRef("refs/tags/v1", commit)
	f := newGitFetcher(t)
	for _, query := range []string{"ref=v1", "ref=" + commit, "ref=v1", "", "ref=" + commit[:10]} {
		pkg, _, err := fetchGit(t, f, getmodules.Request{Package: s.local("git", r, query)})
		if err != nil || pkg.Revision != commit {
			t.Errorf("FetchGit(%q) = %+v, %v, want %s", query, pkg, err, commit)
		}
	}
}

// attributesOfTree uses every attribute that changes files on checkout, and names a
// filter, which must not be run.
const attributesOfTree = `*.auto text=auto
*.crlf text=auto eol=crlf
*.bat eol=crlf
*.bin binary eol=crlf
*.id ident
*.utf16 text working-tree-encoding=UTF-16LE-BOM eol=crlf
*.unknown working-tree-encoding=no-such-encoding eol=crlf
*.lfs filter=lfs diff=lfs merge=lfs -text
[attr]dos eol=crlf
sub/*.dos dos
`

func filesWithAttributes() []gitFile {
	return []gitFile{
		{path: ".gitattributes", content: attributesOfTree},
		{path: "a.auto", content: "1\r\n2\n"}, {path: "a.crlf", content: "1\n2\n"}, {path: "b.crlf", content: "1\r\n2\n"}, {path: "a.bin", content: "1\n"},
		{path: "run.bat", mode: "100755", content: "1\n2\n"}, {path: "main.id", content: "# $Id$\n# $Id: old $\n"},
		{path: "a.utf16", content: "h\u00e9\n"}, {path: "a.unknown", content: "h\u00e9\n"}, {path: "empty.bat"},
		{path: "sub/.gitattributes", content: "*.bat -text\n/x.id !ident\n"},
		{path: "sub/run.bat", content: "1\n2\n"}, {path: "sub/x.id", content: "$Id$\n"}, {path: "sub/y.id", content: "$Id$\n"}, {path: "sub/a.dos", content: "1\n"},
		{path: "link.bat", mode: "120000", content: "run.bat"},
	}
}

// TestGitAttributes checks that all three clients write the same files that git checks out
// for a user without settings.
func TestGitAttributes(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	r.commit("main", filesWithAttributes()...)
	work := filepath.Join(t.TempDir(), "work")
	testenv.Git(t, "")("", "-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", "core.attributesFile=/dev/null", "clone", "--quiet", r.dir, work)
	testenv.Must(t, os.RemoveAll(filepath.Join(work, ".git")))
	want := tree(t, work)
	hostile := filepath.Join(t.TempDir(), "gitconfig")
	attributes := filepath.Join(t.TempDir(), "attributes")
	testenv.WriteFile(t, hostile, "[core]\n\tautocrlf = true\n\teol = crlf\n\tattributesFile = "+attributes+"\n")
	testenv.WriteFile(t, attributes, "* eol=crlf ident\n")
	for name, f := range map[string]*getmodules.Fetcher{
		"git": newGitFetcher(t), "a user's settings": newGitFetcher(t, "GIT_CONFIG_GLOBAL="+hostile),
		"without git": newGitlessFetcher(t), "built in": newBuiltInFetcher(t),
	} {
		pkg, dir, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "")})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Errorf("%s (-git clone +ours):\n%s", name, diff)
		}
		if warnings := strings.Join(pkg.Warnings, "\n"); !strings.Contains(warnings, `"a.unknown"`) || strings.Contains(warnings, "a.utf16") {
			t.Errorf("%s: the warnings are %q", name, warnings)
		}
	}
}

// TestGitAttributesOfSubmodule checks that the attributes of a repository and those of its
// submodule do not affect each other.
func TestGitAttributesOfSubmodule(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	inner := newGitRepo(t, s.root, "inner.git")
	commit := inner.commit("main", gitFile{path: ".gitattributes", content: "*.id ident\n"}, gitFile{path: "x.bat", content: "1\n"}, gitFile{path: "x.id", content: "$Id$"})
	outer := newGitRepo(t, s.root, "outer.git")
	outer.commit("main", gitmodules("inner", "../inner.git"), gitFile{path: ".gitattributes", content: "*.bat eol=crlf\n"},
		gitFile{path: "x.bat", content: "1\n"}, gitFile{path: "x.id", content: "$Id$"}, gitFile{path: "inner", mode: "160000", content: commit})
	_, dir, err := fetchTree(t, newGitFetcher(t), getmodules.Request{Package: s.address(outer, ""), Submodules: true})
	testenv.Must(t, err)
	got := tree(t, dir)
	maps.DeleteFunc(got, func(name, _ string) bool { return strings.Contains(name, ".git") })
	want := map[string]string{"x.bat": "1\r\n", "x.id": "$Id$", "inner": "dir", "inner/x.bat": "1\n", "inner/x.id": "$Id: " + inner.blob("$Id$") + " $"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestGitAttributesLimits(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	r.commit("file", gitFile{path: "main.tf"}, gitFile{path: ".gitattributes", content: strings.Repeat("# a line\n", 1<<17)})
	r.commit("rules", gitFile{path: "main.tf"}, gitFile{path: ".gitattributes", content: strings.Repeat("a text\n", 20_001)})
	r.commit("written", gitFile{path: "a.tf", content: strings.Repeat("\n", 600)}, gitFile{path: ".gitattributes", content: "*.tf eol=crlf\n"})
	r.commit("refused", gitFile{path: "a.tf", content: "x"}, gitFile{path: ".gitattributes", content: "*.tf working-tree-encoding\n"})
	for client, fetcher := range testenv.SampleMap(gitClients, "git", "built in") {
		f := fetcher(t)
		f.Limits.FileBytes = 1000 + 2<<20
		for _, ref := range []string{"file", "rules"} {
			if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.local(client, r, "ref="+ref)}); !errors.Is(err, getmodules.ErrTooLarge) {
				t.Errorf("%s: error is %v, want ErrTooLarge", ref, err)
			}
		}
		f.Limits.FileBytes = 1000
		if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.local(client, r, "ref=written")}); err == nil || !strings.Contains(err.Error(), "1000 bytes in one file") {
			t.Errorf("bytes that are written: error is %v, want one about the limit", err)
		}
		if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.local(client, r, "ref=refused")}); err == nil || !strings.Contains(err.Error(), `"a.tf"`) {
			t.Errorf("an encoding without a value: error is %v, want one that names the file", err)
		}
	}
}
