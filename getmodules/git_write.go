package getmodules

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitattr"
)

// manyBytes is the size of a file for which it pays to check the space on disk before it is written. Git does not say
// how large all files of a commit are.
const manyBytes = 16 << 20

// maxGitLink is PATH_MAX of Linux, in bytes.
const maxGitLink = 4096

// maxNamed limits the paths in one warning.
const maxNamed = 10

// Git LFS pointer files: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
const (
	lfsPrefix     = "version https://git-lfs.github.com/spec/v1\n"
	maxLFSPointer = 1024
)

type gitTree struct {
	objects   git.Objects
	writer    *treewriter.Writer
	dir       string
	limits    treewriter.Limits
	rules     *gitattr.Rules
	links     []git.Entry
	pointers  []string
	unencoded []string
}

// write writes the tree of a commit, and fills in the package.
func (g *gitFetch) write(ctx context.Context, fetched git.Fetched) error {
	g.pkg, g.links = Package{}, nil
	commit, tree, err := git.ReadCommit(fetched.Objects, fetched.ID)
	if err != nil {
		return err
	}
	if want := g.req.Revision; want != "" && commit != want {
		return fmt.Errorf("%w: %s is a tag, which points to commit %s", ErrRevisionNotFound, want, commit)
	}
	limits := g.fetcher.Limits.tree()
	list, err := git.ReadTree(ctx, fetched.Objects, tree, limits.Entries)
	if err != nil {
		return err
	}
	defer list.Close()
	limits.Share = &list.Share
	w, err := treewriter.Create(ctx, g.req.Dir, limits)
	if err != nil {
		return err
	}
	defer w.Abort()
	w.Sum()
	t := gitTree{objects: fetched.Objects, writer: w, dir: g.req.Dir, limits: limits}
	if err := t.write(list.Entries); err != nil {
		return err
	}
	g.describe(commit, fetched.Chosen, t)
	g.pkg.Tree, err = w.Tree()
	return err
}

func (g *gitFetch) describe(commit string, chosen git.Chosen, t gitTree) {
	g.pkg.Revision = commit
	g.pkg.Resolved = g.addr.resolved(commit)
	g.links = t.links
	for _, link := range t.links {
		g.pkg.Gitlinks = append(g.pkg.Gitlinks, link.Path)
	}
	g.pkg.LeftOut = leftOut(t.writer)
	g.pkg.Warnings = t.writer.Warnings()
	warn := func(format string, args ...any) {
		g.pkg.Warnings = append(g.pkg.Warnings, fmt.Sprintf(format, args...))
	}
	if chosen.Rival != "" && chosen.RivalCommit != commit { // without peeled tags, Commit is the tag's own ID
		warn("%q is %s (commit %s), which was taken, and also %s (commit %s); write ?ref=%s or ?ref=%s",
			g.addr.ref, withArticle(chosen.Name), commit, withArticle(chosen.Rival), chosen.RivalCommit, chosen.Name, chosen.Rival)
	}
	if len(t.links) > 0 && !g.req.Submodules {
		warn("submodules are not fetched: %s", named(g.pkg.Gitlinks))
	}
	if len(t.pointers) > 0 {
		warn("these are Git LFS pointers, and the files that they stand for are not fetched: %s", named(t.pointers))
	}
	if len(t.unencoded) > 0 {
		warn("these files are left in UTF-8, because they cannot be written in the working-tree-encoding of .gitattributes: %s", named(t.unencoded))
	}
}

func named(paths []string) string {
	var quoted []string
	for _, path := range paths[:min(len(paths), maxNamed)] {
		quoted = append(quoted, fmt.Sprintf("%q", path))
	}
	list := strings.Join(quoted, ", ")
	if more := len(paths) - maxNamed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

func (t *gitTree) write(entries []git.Entry) error {
	var blobs []git.Entry
	for _, e := range entries {
		switch e.Kind {
		case git.Dir:
			if err := t.writer.Dir(e.Path); err != nil {
				return err
			}
		case git.Submodule:
			t.links = append(t.links, e)
		case git.File, git.Link:
			blobs = append(blobs, e)
		}
	}
	if err := t.writeBlobs(blobs); err != nil {
		return err
	}
	if err := t.objects.Finish(); err != nil {
		return err
	}
	return finish(t.writer, t.dir)
}

func (t *gitTree) writeBlobs(blobs []git.Entry) error {
	if len(blobs) == 0 {
		return ErrEmpty
	}
	if err := t.readAttributes(blobs); err != nil {
		return err
	}
	at := 0
	for obj, err := range t.objects.Read(git.KindBlob, idsOf(blobs)) {
		if err != nil {
			return err
		}
		if err := t.writeBlob(blobs[at], obj); err != nil {
			return err
		}
		at++
	}
	return nil
}

func idsOf(entries []git.Entry) []string {
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return ids
}

func (t *gitTree) writeBlob(e git.Entry, obj *git.Object) error {
	if e.Kind == git.Link {
		target, err := obj.Bytes(maxGitLink)
		if err != nil {
			return fmt.Errorf("link %q: %w", e.Path, err)
		}
		return t.writer.Symlink(e.Path, string(target))
	}
	if obj.Size > t.limits.FileBytes {
		return &LimitError{Limit: packagelimits.OfFile, Path: e.Path, Size: obj.Size, Max: t.limits.FileBytes}
	}
	if obj.Size < maxLFSPointer && obj.Begins(lfsPrefix) {
		t.pointers = append(t.pointers, e.Path)
	}
	if obj.Size > manyBytes {
		if err := t.writer.Expect(obj.Size); err != nil {
			return err
		}
	}
	content, err := t.convert(e, obj)
	if err != nil {
		return err
	}
	return t.writer.File(e.Path, e.Exec, content)
}

func withArticle(full string) string {
	switch {
	case strings.HasPrefix(full, git.Tags):
		return "a tag"
	case strings.HasPrefix(full, git.Heads):
		return "a branch"
	}
	return "the ref " + full
}

// maxConverted bounds a file that is converted, in memory.
const maxConverted = 64 << 20

// readAttributes reads the .gitattributes files of a commit.
func (t *gitTree) readAttributes(blobs []git.Entry) error {
	var found []git.Entry
	for _, e := range blobs {
		if path.Base(e.Path) == gitattr.FileName && e.Kind == git.File {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil
	}
	files := map[string][]byte{}
	at := 0
	for obj, err := range t.objects.Read(git.KindBlob, idsOf(found)) {
		if err != nil {
			return err
		}
		e := found[at]
		at++
		dir := path.Dir(e.Path)
		if dir == "." {
			dir = ""
		}
		if files[dir], err = obj.Bytes(gitattr.MaxFileBytes); err != nil {
			return fmt.Errorf("%q: %w", e.Path, err)
		}
	}
	rules, err := gitattr.Parse(files)
	if errors.Is(err, gitattr.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	t.rules = rules
	return err
}

// convert applies the commit's attributes to a file.
func (t *gitTree) convert(e git.Entry, obj *git.Object) (io.Reader, error) {
	conversion, err := t.rules.Conversion(e.Path)
	if errors.Is(err, gitattr.ErrTooLarge) {
		return nil, fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", e.Path, err)
	}
	if conversion.IsNone() {
		return obj, nil
	}
	content, err := obj.Bytes(min(t.limits.FileBytes, maxConverted))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", e.Path, err)
	}
	content, err = conversion.Apply(content, e.ID)
	if errors.Is(err, gitattr.ErrEncoding) {
		t.unencoded = append(t.unencoded, e.Path)
	}
	return bytes.NewReader(content), nil
}
