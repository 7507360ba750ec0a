package gitattr_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git/gitattr"
	"github.com/cotterpin/cotter/internal/testenv"
)

// repository is a repository of the installed git, which ignores the user's settings.
type repository struct{ dir string }

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{dir: t.TempDir()}
	r.git(t, "", "init", "-q")
	return r
}

func (r *repository) git(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	plain := []string{"-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", "core.attributesFile=/dev/null", "-c", "core.ignoreCase=false"}
	return testenv.Git(t, r.dir, "GIT_ATTR_NOSYSTEM=1")(stdin, append(plain, args...)...)
}

// add adds blobs to the index without conversion and returns their object names.
func (r *repository) add(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	var names, from []string
	for name, content := range files {
		names, from = append(names, name), append(from, filepath.Join(dir, fmt.Sprint(len(from))))
		if err := os.WriteFile(from[len(from)-1], []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := r.git(t, strings.Join(from, "\n")+"\n", "hash-object", "-w", "--no-filters", "--stdin-paths")
	ids := map[string]string{}
	var index strings.Builder
	for i, id := range strings.Fields(out) {
		ids[names[i]] = id
		fmt.Fprintf(&index, "100644 %s\t%s\n", id, names[i])
	}
	r.git(t, index.String(), "update-index", "--add", "--index-info")
	return ids
}

// contents are file contents that conversions may treat differently.
var contents = map[string]string{
	"lf":         "a\nb\n\nc",
	"crlf":       "a\r\nb\r\n",
	"mixed":      "a\nb\r\nc\n",
	"lone cr":    "a\rb\n",
	"nul":        "a\x00b\n",
	"control":    "a\x01b\n",
	"few odd":    strings.Repeat("x", 300) + "\x01\x02\n",
	"more odd":   strings.Repeat("x", 300) + "\x01\x02\x03\n",
	"eof":        strings.Repeat("x", 127) + "\n\x1a",
	"escape":     "\x1b[1m\b\t\f\n",
	"latin":      "h\u00e9llo \u20ac\n",
	"bom":        "\ufeffhello\n",
	"astral":     "\U0001f600 \u65e5\u672c\n",
	"not utf-8":  "a\xff\n$Id$\n",
	"empty":      "",
	"idents":     "$Id$ $Id: 123 $ $Id:$ $Id: $ $Id:x$ $Id\n$ $Idx$ $id$ $Id",
	"two":        "$$Id$ $I$Id$ $Id$Id$ $Id: a b $Id$ $Id:a b$ $Id: a\tb $ $Id: ab\v$",
	"split":      "$Id: 1\n $ $Id: no end",
	"wide":       "$Id: a  $ $Id:  $ $Id: a\x00b c$\n",
	"id at end":  "x\n$Id",
	"id: at end": "x\n$Id:",
}

// TestApplyLikeGit compares the converted files with those that git checks out.
func TestApplyLikeGit(t *testing.T) {
	t.Parallel()
	attributes := []string{
		"text", "-text", "text=auto", "text=input", "text=other", "!text", "eol=lf", "eol=crlf", "text eol=crlf", "text=auto eol=crlf", "text=auto eol=lf",
		"-text eol=crlf", "binary eol=crlf", "crlf", "-crlf eol=crlf", "crlf=auto eol=crlf", "crlf=input eol=crlf", "text -crlf eol=crlf",
		"ident", "-ident", "ident=x", "ident eol=crlf", "ident text=auto", "ident text=auto eol=crlf", "ident text=auto eol=lf", "ident working-tree-encoding=UTF-16",
		"working-tree-encoding=UTF-16", "working-tree-encoding=utf-16le", "working-tree-encoding=UTF-16BE", "working-tree-encoding=UTF-16LE-BOM",
		"working-tree-encoding=UTF-32", "working-tree-encoding=UTF-8", "working-tree-encoding=utf8", "working-tree-encoding=ISO-8859-1",
		"working-tree-encoding=ISO8859-15", "working-tree-encoding=CP1252", "working-tree-encoding=EUC-JP", "working-tree-encoding=KOI8-R",
		"working-tree-encoding=none-such", "working-tree-encoding=", "working-tree-encoding=UTF-16 text eol=crlf", "filter=evil eol=crlf", "export-ignore eol=crlf",
	}
	r := newRepository(t)
	var file strings.Builder
	files := map[string]string{}
	for i, set := range attributes {
		fmt.Fprintf(&file, "/%d/* %s\n", i, set)
		for name, content := range contents {
			files[fmt.Sprintf("%d/%s", i, name)] = content
		}
	}
	files[gitattr.FileName] = file.String()
	ids := r.add(t, files)
	r.git(t, "", "checkout-index", "--all")
	rules, err := gitattr.Parse(map[string][]byte{"": []byte(file.String())})
	if err != nil {
		t.Fatal(err)
	}
	for i, set := range attributes {
		for name, content := range contents {
			path := fmt.Sprintf("%d/%s", i, name)
			want, err := os.ReadFile(filepath.Join(r.dir, path))
			if err != nil {
				t.Fatal(err)
			}
			conversion, err := rules.Conversion(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := conversion.Apply([]byte(content), ids[path])
			if err != nil && !errors.Is(err, gitattr.ErrEncoding) {
				t.Errorf("%s, %s: %v", set, name, err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s, %s (-git +ours):\n%s", set, name, diff)
			}
			if conversion.IsNone() && string(want) != content {
				t.Errorf("%s, %s: git changes the file", set, name)
			}
		}
	}
}

// TestRulesLikeGit compares the result of random rules for random paths with git
// check-attr.
func TestRulesLikeGit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(parts []string, most int) string {
		var out strings.Builder
		for range 1 + random.IntN(most) {
			out.WriteString(parts[random.IntN(len(parts))])
		}
		return out.String()
	}
	patternParts := []string{
		"a", "b", "c", "/", "/", "*", "**", "?", "[", "]", "!", "^", "-", `\`, ".", "**/", "/**", "/**/", "[a-b]", "[!a]", "[[:alpha:]]", "[]a]", `[\]]`, "a*", "\"",
		"a", "b", "*", "*", "*", "**/", "/*", "?", "[[:digit:][:upper:]]", "[a-", "[[:nope:]]", "[[:a]", `\*`, `"a\142" `, "*.b",
	}
	attributeParts := []string{
		" eol=crlf", " eol=crlf", " eol=crlf", " eol=crlf", " eol=crlf", " eol=crlf", " eol=crlf", " m1", " m1", " m1",
		" eol=lf", " -eol", " !eol", " eol", " eol=", " filter=x", " m2", " -m1", " m1=crlf", " binary", " -x=y", " =", " bad:name", "\t", "\r", " \x0b",
	}
	pathParts := []string{"a", "b", "c", "/", "/", ".", "-", "]", "*", "a/", "/b", "A", "0", "!", `\`}
	r := newRepository(t)
	files := map[string][]byte{"": []byte("[attr]m1 eol=crlf\n[attr]m2 m1 -text\n[attr]binary eol=lf\n[attr] m3 eol=crlf\nab eol=crlf\n*a* eol=lf\n")}
	var paths []string
	for i := range 8000 {
		dir := fmt.Sprintf("d%d", i%1000)
		if i < 1000 {
			var text strings.Builder
			for range 2 + random.IntN(4) {
				text.WriteString(pick(patternParts, 4) + pick(attributeParts, 2) + "\n")
			}
			files[dir] = []byte(text.String())
		}
		name := strings.Trim(filepath.ToSlash(filepath.Clean("/"+pick(pathParts, 4))), "/")
		if name == "" || strings.HasPrefix(name, ".git") {
			continue
		}
		paths = append(paths, dir+"/"+name)
	}
	blobs := map[string]string{}
	for dir, content := range files {
		blobs[strings.TrimPrefix(dir+"/"+gitattr.FileName, "/")] = string(content)
	}
	r.add(t, blobs)
	out := strings.Split(r.git(t, strings.Join(paths, "\x00")+"\x00", "check-attr", "--cached", "-z", "--stdin", "text", "eol"), "\x00")
	rules, err := gitattr.Parse(files)
	if err != nil {
		t.Fatal(err)
	}
	matched := 0
	for i, path := range paths {
		text, eol := out[6*i+2], out[6*i+5]
		want := eol == "crlf" && text != "unset"
		conversion, err := rules.Conversion(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := !conversion.IsNone(); got != want {
			dir, _, _ := strings.Cut(path, "/")
			t.Errorf("%q: ours %t, git %t (text %s, eol %s) by\n%s", path, got, want, text, eol, files[dir])
		}
		if want {
			matched++
		}
	}
	if matched < len(paths)/20 {
		t.Errorf("only %d of %d paths have an attribute; the test compares nothing", matched, len(paths))
	}
}
