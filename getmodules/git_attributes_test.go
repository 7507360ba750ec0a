package getmodules_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
)

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
	clone := exec.Command("git", "-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", "core.attributesFile=/dev/null", "clone", "--quiet", r.dir, work)
	clone.Env = r.env
	if out, err := clone.CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	if err := os.RemoveAll(filepath.Join(work, ".git")); err != nil {
		t.Fatal(err)
	}
	want := tree(t, work)
	hostile := filepath.Join(t.TempDir(), "gitconfig")
	attributes := filepath.Join(t.TempDir(), "attributes")
	for name, text := range map[string]string{hostile: "[core]\n\tautocrlf = true\n\teol = crlf\n\tattributesFile = " + attributes + "\n", attributes: "* eol=crlf ident\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	for _, f := range []*getmodules.Fetcher{newGitFetcher(t), newBuiltInFetcher(t)} {
		f.Limits.FileBytes = 1000 + 2<<20
		for _, ref := range []string{"file", "rules"} {
			if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref="+ref)}); !errors.Is(err, getmodules.ErrTooLarge) {
				t.Errorf("%s: error is %v, want ErrTooLarge", ref, err)
			}
		}
		f.Limits.FileBytes = 1000
		if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=written")}); err == nil || !strings.Contains(err.Error(), "1000 bytes in one file") {
			t.Errorf("bytes that are written: error is %v, want one about the limit", err)
		}
		if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=refused")}); err == nil || !strings.Contains(err.Error(), `"a.tf"`) {
			t.Errorf("an encoding without a value: error is %v, want one that names the file", err)
		}
	}
}
