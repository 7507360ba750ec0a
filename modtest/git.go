package modtest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/semver"
)

// headTag stands for the last commit of the branch main.
const headTag = "_HEAD"

// gitServer creates a repository when it is first needed: most tests use few of a shared tree.
type gitServer struct {
	opts Options
	host string
	dir  string // the project root of git http-backend

	mu    sync.Mutex
	git   string                 // the program's path, "" until it is looked up
	repos map[string]*repository // by name: "net.git"
}

func isRepo(name string) bool { return strings.HasSuffix(name, ".git") }

func newGitServer(fsys fs.FS, opts Options, host, dir string) (*gitServer, error) {
	g := &gitServer{opts: opts, host: host, dir: dir, repos: map[string]*repository{}}
	repos, err := roots(fsys, "git", isRepo)
	if err != nil {
		return nil, err
	}
	for _, repo := range repos {
		if err := g.load(fsys, repo); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *gitServer) load(fsys fs.FS, repo string) error {
	dir := path.Join("git", repo)
	names, err := directories(fsys, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		at := path.Join(dir, name)
		files, err := subtree(fsys, at)
		if err != nil {
			return err
		}
		tag, err := url.PathUnescape(name)
		if err == nil {
			err = g.add(repo, tag, files)
		}
		if err != nil {
			return &TreeError{at, err}
		}
	}
	return nil
}

var (
	errTwice  = errors.New("the tree has this tag twice")
	errBadTag = errors.New("not a name that git allows for a tag")
)

func (g *gitServer) add(repo, tag string, files fs.FS) error {
	if !validTag(tag) {
		return errBadTag
	}
	r := g.open(repo)
	if _, ok := r.trees[tag]; ok {
		return errTwice
	}
	r.trees[tag] = files
	return nil
}

// validTag checks the most common of git's rules; all are checked when the repository is created.
func validTag(tag string) bool {
	return tag != "" && fs.ValidPath(tag) && !strings.Contains(tag, "..") &&
		!strings.ContainsAny(tag, " ~^:?*[\\\x7f") && !strings.HasSuffix(tag, ".lock")
}

// open returns the repository of this name, which it adds if necessary.
func (g *gitServer) open(repo string) *repository {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.repos[repo] == nil {
		g.repos[repo] = &repository{
			dir:       filepath.Join(g.dir, filepath.FromSlash(repo)),
			host:      g.host,
			program:   g.program,
			annotated: g.opts.AnnotatedTags,
			refuse:    g.opts.RefuseCommits,
			manyRefs:  g.opts.manyRefNames(),
			trees:     map[string]fs.FS{},
		}
	}
	return g.repos[repo]
}

func (g *gitServer) lookup(repo string) (*repository, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.repos[repo]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("no such repository: %w", fs.ErrNotExist)
}

// check returns an error if there are repositories, and no git to create them.
func (g *gitServer) check() error {
	g.mu.Lock()
	none := len(g.repos) == 0
	g.mu.Unlock()
	if none {
		return nil
	}
	_, err := g.program()
	return err
}

func (g *gitServer) program() (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.git != "" {
		return g.git, nil
	}
	var err error
	if g.git, err = exec.LookPath("git"); err != nil {
		return "", ErrNoGit
	}
	return g.git, nil
}

// publish adds or moves a tag of a repository that may be in use.
func (g *gitServer) publish(repo, tag string, files fs.FS) error {
	if !validTag(tag) || tag == headTag {
		return errBadTag
	}
	if _, err := g.program(); err != nil {
		return err
	}
	return g.open(repo).publish(tag, files)
}

func (g *gitServer) move(repo, tag string, files fs.FS) error {
	if _, err := g.commit(repo, tag); err != nil {
		return err
	}
	return g.publish(repo, tag, files)
}

func (g *gitServer) with(repo string, do func(r *repository, git string) error) error {
	r, err := g.lookup(repo)
	if err != nil {
		return err
	}
	git, err := g.program()
	if err != nil {
		return err
	}
	return do(r, git)
}

func (g *gitServer) commit(repo, tag string) (id string, err error) {
	err = g.with(repo, func(r *repository, _ string) error {
		id, err = r.commit(tag)
		return err
	})
	return id, err
}

// tagOrder sorts other tags before versions, and headTag last, so main ends at that or the newest version.
func tagOrder(trees map[string]fs.FS) []string {
	rank := func(tag string) int {
		switch {
		case tag == headTag:
			return 2
		case semver.IsValid(withV(tag)):
			return 1
		}
		return 0
	}
	return slices.SortedFunc(maps.Keys(trees), func(a, b string) int {
		if c := cmp.Compare(rank(a), rank(b)); c != 0 {
			return c
		}
		if c := compareVersions(withV(a), withV(b)); c != 0 {
			return c
		}
		return strings.Compare(a, b) // "1.0.0" and "v1.0.0"
	})
}

func withV(tag string) string {
	if strings.HasPrefix(tag, "v") {
		return tag
	}
	return "v" + tag
}

// manyRefNames returns the full names for [Options.ManyRefs] and [Options.ManyTags], sorted.
func (o Options) manyRefNames() []string {
	var names []string
	for i := range o.ManyRefs {
		name := fmt.Sprintf("refs/heads/branch-%d", i)
		if i%2 == 1 {
			name = fmt.Sprintf("refs/pull/%d/head", i)
		}
		names = append(names, name)
	}
	const patches = 50 // of a minor version
	for i := range o.ManyTags {
		names = append(names, fmt.Sprintf("refs/tags/v0.%d.%d", i/patches, i%patches))
	}
	slices.Sort(names)
	return names
}

// writePackedRefs creates sorted refs in the single file in which git keeps many (gitrepository-layout(5)).
// A file for each would take minutes.
func (r *repository) writePackedRefs(names []string, id string) error {
	var text strings.Builder
	text.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for _, name := range names {
		fmt.Fprintf(&text, "%s %s\n", id, name)
	}
	return os.WriteFile(filepath.Join(r.dir, "packed-refs"), []byte(text.String()), 0o644)
}
