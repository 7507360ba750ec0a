package worktree_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/worktree"
)

const lock = ".terraform.lock.hcl"

// ignoreTests are files of a checkout, and what git says of the lock in a directory of it. Files of HOME begin with "~/".
var ignoreTests = []struct {
	name   string
	files  map[string]string
	change func(w workspace) // after the files are written
	dir    string            // of the lock; "" is the top
	want   string            // the file and line; "" if git does not ignore the lock
	// unknown says that git ignores the lock but we do not say so.
	unknown bool
}{
	{name: "nothing"},
	{name: "a name", files: map[string]string{".gitignore": "*.tfstate\n\n.terraform.lock.hcl\n"}, dir: "a/b", want: ".gitignore:3"},
	{name: "a comment", files: map[string]string{".gitignore": "#.terraform.lock.hcl\n"}},
	{name: "the last rule counts", files: map[string]string{".gitignore": "*.hcl\n.terraform.lock.hcl\n*.zip\n"}, want: ".gitignore:2"},
	{name: "negated", files: map[string]string{".gitignore": ".terraform*\n!.terraform.lock.hcl\n"}},
	{name: "negated before", files: map[string]string{".gitignore": "!.terraform.lock.hcl\n.terraform*\n"}, want: ".gitignore:2"},
	{name: "negated closer to the file", files: map[string]string{".gitignore": "*.hcl\n", "a/.gitignore": "!*.hcl\n"}, dir: "a/b"},
	{name: "ignored closer to the file", files: map[string]string{".gitignore": "!*.hcl\n", "a/.gitignore": "*.hcl\n"}, dir: "a/b", want: "a/.gitignore:1"},
	{name: "a directory", files: map[string]string{".gitignore": "/a/\n!.terraform.lock.hcl\n", "a/.gitignore": "!*\n"}, dir: "a/b", want: ".gitignore:1"},
	{name: "a directory that is allowed again", files: map[string]string{".gitignore": "/*\n!/a/\n/a/*\n!/a/b/\n"}, dir: "a/b"},
	{name: "all but directories", files: map[string]string{".gitignore": "*\n!*/\n"}, dir: "a/b", want: ".gitignore:1"},
	{name: "a rule for directories only", files: map[string]string{".gitignore": ".terraform.lock.hcl/\n"}},
	{name: "from the top only", files: map[string]string{".gitignore": "/.terraform.lock.hcl\n"}, dir: "a"},
	{name: "a slash in the middle", files: map[string]string{".gitignore": "b/.terraform.lock.hcl\n"}, dir: "a/b"},
	{name: "all below a directory", files: map[string]string{".gitignore": "a/**\n"}, dir: "a/b", want: ".gitignore:1"},
	{name: "all below a directory but the lock", files: map[string]string{".gitignore": "a/**\n!a/.terraform.lock.hcl\n"}, dir: "a"},
	{name: "at any depth", files: map[string]string{".gitignore": "**/b/.terraform.lock.hcl\n"}, dir: "a/b", want: ".gitignore:1"},
	{name: "two stars between", files: map[string]string{".gitignore": "a/**/.terraform.lock.hcl\n"}, dir: "a/b/c", want: ".gitignore:1"},
	{name: "a class", files: map[string]string{".gitignore": ".[[:alpha:]]*.lock.[!a]cl\n"}, want: ".gitignore:1"},
	{name: "trailing spaces", files: map[string]string{".gitignore": ".terraform.lock.hcl  \n"}, want: ".gitignore:1"},
	{name: "a trailing tab", files: map[string]string{".gitignore": ".terraform.lock.hcl\t\n"}},
	{name: "a quoted space", files: map[string]string{".gitignore": ".terraform.lock.hcl\\ \n"}},
	{name: "lines of Windows", files: map[string]string{".gitignore": "*.zip\r\n.terraform.lock.hcl\r\n"}, want: ".gitignore:2"},
	{name: "no line end", files: map[string]string{".gitignore": ".terraform.lock.hcl"}, want: ".gitignore:1"},
	{name: "a byte order mark", files: map[string]string{".gitignore": "\ufeff.terraform.lock.hcl\n"}, want: ".gitignore:1"},
	{name: "another case", files: map[string]string{".gitignore": ".Terraform.lock.hcl\n"}},
	{name: "a negation in another case", files: map[string]string{".gitignore": "*.hcl\n!.Terraform.lock.hcl\n"}, want: ".gitignore:1", unknown: true},
	{name: "info/exclude", files: map[string]string{".git/info/exclude": "*.hcl\n"}, dir: "a", want: ".git/info/exclude:1"},
	{name: "info/exclude and a negation", files: map[string]string{".git/info/exclude": "*.hcl\n", ".gitignore": "!*.hcl\n"}},
	{name: "the user's file", files: map[string]string{"~/.config/git/ignore": "*.zip\n*.hcl\n"}, dir: "a", want: "~/.config/git/ignore:2"},
	{name: "the user's file and a negation in info/exclude", files: map[string]string{"~/.config/git/ignore": "*.hcl\n", ".git/info/exclude": "!*.hcl\n"}},
	{name: "core.excludesFile", files: map[string]string{"~/.config/git/ignore": "!*.hcl\n", "~/mine": "*.hcl\n", "~/.gitconfig": "[core]\n\texcludesFile = ~/mine\n"}, want: "~/mine:1"},
	{name: "core.excludesFile is turned off", files: map[string]string{"~/.config/git/ignore": "*.hcl\n", "~/.gitconfig": "[core]\n\texcludesFile =\n"}},
	{name: "core.excludesFile of the repository", files: map[string]string{"~/.config/git/ignore": "*.hcl\n", "mine": ""}, change: func(w workspace) { w.git("config", "core.excludesFile", "mine") }},
	{name: "core.excludesFile by a link", files: map[string]string{"~/real": "*.hcl\n"}, change: func(w workspace) {
		w.git("config", "core.excludesFile", "~/link")
		w.check(os.Symlink("real", w.home("link")))
	}, want: "~/link:1"},
	{name: "tracked", files: map[string]string{lock: ""}, change: func(w workspace) {
		w.git("add", lock)
		w.write(".gitignore", "*.hcl\n")
	}},
	{name: "added with force", files: map[string]string{".gitignore": "a/\n", "a/" + lock: ""}, change: func(w workspace) { w.git("add", "-f", "a/"+lock) }, dir: "a"},
	{name: "tracked in another directory", files: map[string]string{".gitignore": "*.hcl\n", "a/" + lock: ""}, change: func(w workspace) { w.git("add", "-f", "a/"+lock) }, want: ".gitignore:1"},
	{name: "an index of version 4", files: map[string]string{".gitignore": "*.hcl\n", "x": ""}, change: func(w workspace) {
		w.git("add", "x")
		w.git("update-index", "--index-version=4")
	}, want: ".gitignore:1", unknown: true},
	{name: "a split index", files: map[string]string{".gitignore": "*.hcl\n", "x": ""}, change: func(w workspace) {
		w.git("add", "x")
		w.git("update-index", "--split-index")
	}, want: ".gitignore:1", unknown: true},
	{name: "an index with SHA-256", change: func(w workspace) {
		w.check(os.RemoveAll(w.path(".git")))
		w.git("init", "-q", "--object-format=sha256")
		w.write(".gitignore", "*.hcl\n")
		w.git("add", ".gitignore")
	}, want: ".gitignore:1", unknown: true},
	{name: "a .gitignore that a sparse checkout leaves out", files: map[string]string{".gitignore": "*.hcl\n", "a/.gitignore": "!*.hcl\n"}, change: func(w workspace) {
		w.git("add", ".")
		w.git("update-index", "--skip-worktree", "a/.gitignore")
		w.check(os.Remove(w.path("a/.gitignore")))
	}, dir: "a", unknown: true},
	{name: "a submodule", files: map[string]string{".gitignore": "*.hcl\n", ".git/info/exclude": "*.hcl\n"}, change: func(w workspace) {
		w.git("init", "-q", "a")
		w.git("-C", "a", "commit", "-q", "--allow-empty", "-m", "one")
		w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./a", "a")
	}, dir: "a"},
	{name: "a separate git directory", change: func(w workspace) {
		w.git("init", "-q", "--separate-git-dir="+w.home("git"))
		w.write("../git/info/exclude", "*.hcl\n")
	}, dir: "a", want: "~/git/info/exclude:1"},
	{name: "a linked working tree", files: map[string]string{".gitignore": "*.hcl\n", ".git/info/exclude": "*.lock.hcl\n"}, change: func(w workspace) {
		w.git("commit", "-q", "--allow-empty", "-m", "one")
		w.git("worktree", "add", "-q", "a")
	}, dir: "a", want: "~/checkout/.git/info/exclude:1"},
}

func (w workspace) home(name string) string { return filepath.Join(filepath.Dir(w.dir), name) }

// checkIgnore returns "FILE:LINE" for each path; "" if git does not ignore it.
func (w workspace) checkIgnore(dir string, names ...string) []string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git", "check-ignore", "-v", "-n", "-z", "--stdin")
	cmd.Dir, cmd.Env, cmd.Stdin = filepath.Join(w.dir, dir), w.env, strings.NewReader(strings.Join(names, "\x00")+"\x00")
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); err != nil && !(ok && failed.ExitCode() == 1) { // none is ignored
		w.t.Fatal(err)
	}
	var rules []string
	for fields := strings.Split(string(out), "\x00"); len(fields) > 4; fields = fields[4:] {
		if fields[1] == "" || strings.HasPrefix(fields[2], "!") {
			rules = append(rules, "")
			continue
		}
		rules = append(rules, fields[0]+":"+fields[1])
	}
	return rules
}

// ignored returns the rule as git prints it.
func (w workspace) ignored(dir, name string) (string, error) {
	w.t.Helper()
	tree, err := worktree.Open(&gitexec.Git{Env: w.env}, filepath.Join(w.dir, dir))
	w.check(err)
	rule, err := tree.Ignored(w.t.Context(), name)
	if rule == nil || err != nil {
		return "", err
	}
	file := rule.File
	if !filepath.IsAbs(file) {
		file = path.Join(tree.Prefix, file)
	}
	return fmt.Sprintf("%s:%d", file, rule.Line), nil
}

// TestIgnored compares each answer with that of "git check-ignore", which may name another rule only where ours is unknown.
func TestIgnored(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("some changes need links")
	}
	for _, test := range ignoreTests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			for name, text := range test.files {
				if own, ok := strings.CutPrefix(name, "~/"); ok {
					name = "../" + own
				}
				w.write(name, text)
			}
			w.check(os.MkdirAll(w.path(test.dir), 0o755))
			if test.change != nil {
				test.change(w)
			}
			want := strings.Replace(test.want, "~/", w.home("")+"/", 1)
			if byGit := w.checkIgnore(test.dir, lock)[0]; byGit != want {
				t.Errorf("git: ignored by %q, want %q", byGit, want)
			}
			got, err := w.ignored(test.dir, lock)
			if test.unknown {
				if err == nil {
					t.Errorf("Ignored: %q, want an error", got)
				}
				return
			}
			if got != want || err != nil {
				t.Errorf("Ignored: %q, %v, want %q", got, err, want)
			}
		})
	}
}

// TestIgnoredDirs compares the directories of a checkout with "git check-ignore", which names also those with a tracked file.
func TestIgnoredDirs(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.write(".gitignore", "node_modules\n/cdktf.out/\n*.d/\n!keep.d/\ntracked/\nfile\n")
	w.write("a/.gitignore", "/only-here\n!b/node_modules\n")
	w.write(".git/info/exclude", "excluded\n")
	dirs := []string{
		"a", "a/b", "a/b/node_modules", "a/node_modules", "a/node_modules/x", "node_modules", "cdktf.out", "a/cdktf.out", "x.d", "keep.d",
		"only-here", "a/only-here", "excluded", "a/excluded/x", "file",
	}
	for _, dir := range append(dirs, "tracked/x") {
		w.check(os.MkdirAll(w.path(dir), 0o755))
	}
	w.write("tracked/x/main.tf", "")
	w.git("add", "-f", "tracked/x/main.tf")
	tree, err := worktree.Open(&gitexec.Git{Env: w.env}, w.dir)
	w.check(err)
	ignored, err := tree.IgnoredDirs(t.Context())
	w.check(err)
	want := w.checkIgnore("", dirs...)
	for i, dir := range dirs {
		got := ""
		if rule := ignored.Rule(dir); rule != nil {
			got = fmt.Sprintf("%s:%d", rule.File, rule.Line)
		}
		if got != want[i] {
			t.Errorf("%s is ignored by %q, want %q", dir, got, want[i])
		}
	}
	for _, dir := range []string{"tracked", "tracked/x", "..", ""} {
		if rule := ignored.Rule(dir); rule != nil {
			t.Errorf("%s is ignored by %v", dir, rule)
		}
	}
	// Below a directory that is ignored itself, everything is wanted.
	tree, err = worktree.Open(&gitexec.Git{Env: w.env}, w.path("a/node_modules"))
	w.check(err)
	if ignored, err = tree.IgnoredDirs(t.Context()); err != nil || ignored.Rule("x") != nil {
		t.Errorf("below an ignored directory: %v, %v", ignored, err)
	}
}

// TestIgnorePatterns compares random rules for random paths with "git check-ignore".
func TestIgnorePatterns(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(parts []string, most int) string {
		var out strings.Builder
		for range 1 + random.IntN(most) {
			out.WriteString(parts[random.IntN(len(parts))])
		}
		return out.String()
	}
	ordinary := []string{
		".terraform", ".terraform/", "**/.terraform/*", "*.tfstate.*", lock, "**/" + lock, "!" + lock, "/" + lock, "!/" + lock, ".terraform*",
		"*.hcl", "!*.lock.hcl", "/a/", "!a/", "a/*", "!a/" + lock, "a/**", "**/a/**", "a/**/" + lock, ".*", "!.*.hcl", "*", "/*", "!*/", "**", "!**/", "a/**/b/", "b", "!b", "!/a",
	}
	odd := []string{
		"a", "b", "/", "*", "**", "?", "[", "]", "!", "^", "-", `\`, ".", "**/", "/**", "[a-b]", "[!a]", "[[:alpha:]]", "[]a]", "[[:nope:]]", `\*`, " ", `\ `, "#", "\t", "\r", "\x00",
	}
	w := newWorkspace(t)
	lists := map[string]string{}
	var names []string
	for i := range 1500 {
		dir := fmt.Sprintf("d%d", i)
		var list strings.Builder
		for range 1 + random.IntN(4) {
			if i%3 > 0 {
				list.WriteString(ordinary[random.IntN(len(ordinary))] + "\n")
			} else {
				list.WriteString(pick(odd, 4) + "\n")
			}
		}
		lists[dir] = list.String()
		w.write(dir+"/.gitignore", lists[dir])
		for range 4 {
			names = append(names, dir+"/"+pick([]string{"", "a/", "b/", "a/b/", "-/"}, 2)+pick([]string{lock, lock, "a", "b", "a b", "!"}, 1))
		}
	}
	for i, rule := range w.checkIgnore("", names...) {
		dir, _, _ := strings.Cut(names[i], "/")
		want := 0
		if _, line, ok := strings.Cut(rule, ":"); ok {
			_, err := fmt.Sscan(line, &want)
			w.check(err)
		}
		if got, err := worktree.IgnoreLine(dir, lists[dir], names[i]); got != want || err != nil {
			t.Errorf("%q: ignored by line %d, %v, want %d of\n%s", names[i], got, err, want, lists[dir])
		}
	}
}

func TestSlowIgnorePatterns(t *testing.T) {
	t.Parallel()
	slow := strings.Repeat(strings.Repeat("*l", 100)+"x\n", 5000)
	if line, err := worktree.IgnoreLine("", slow, strings.Repeat("l", 4000)); err == nil {
		t.Errorf("ignored by line %d, want an error", line)
	}
}

// FuzzIndex looks for files on which go-git's parser fails in another way than by an error.
func FuzzIndex(f *testing.F) {
	for _, version := range []uint32{2, 3} {
		var content bytes.Buffer
		idx := &index.Index{Version: version, Entries: []*index.Entry{{Name: lock}, {Name: "main.tf"}}}
		if err := index.NewEncoder(&content).Encode(idx); err != nil {
			f.Fatal(err)
		}
		f.Add(content.Bytes())
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		entries, err := worktree.ParseIndex(content)
		if err != nil && entries != nil {
			t.Errorf("%d entries and %v", len(entries), err)
		}
	})
}
