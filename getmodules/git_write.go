package getmodules

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/internal/git/gitattr"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// maxGitLink bounds a symbolic link's target: PATH_MAX.
const maxGitLink = 4096

// maxNamed is how many paths one warning names.
const maxNamed = 10

// A Git LFS pointer file begins with this line and is shorter than that, by
// the specification at https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
const (
	lfsPrefix     = "version https://git-lfs.github.com/spec/v1\n"
	maxLFSPointer = 1024
)

// gitTree writes the tree of one commit.
type gitTree struct {
	objects  gitSource
	writer   *treewriter.Writer
	dir      string
	maxFile  int64
	rules    *gitattr.Rules
	links    []gitEntry
	pointers []string
	// unencoded are files that could not be written in their encoding.
	unencoded []string
}

// readStored writes the tree of a commit that an earlier fetch brought. The store
// is checked before git sees it.
func (g *gitFetch) readStored(ctx context.Context, id string) error {
	unlock, err := g.store.lockShared(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := checkStore(g.store.dir); err != nil {
		return err
	}
	return g.readLocked(ctx, id)
}

// read writes the tree of a commit that was just fetched to the request's
// directory and fills in the package. id may also name a tag that points to the
// commit.
func (g *gitFetch) read(ctx context.Context, id string) error {
	unlock, err := g.store.lockShared(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return g.readLocked(ctx, id)
}

func (g *gitFetch) readLocked(ctx context.Context, id string) error {
	objects, err := openGitObjects(ctx, g.git, g.store.dir)
	if err != nil {
		return err
	}
	defer objects.close()
	return g.write(objects, id)
}

// write writes the tree of a commit out of objects.
func (g *gitFetch) write(objects gitSource, id string) error {
	commit, tree, err := readGitCommit(objects, id)
	if err != nil {
		return err
	}
	if want := g.req.Revision; want != "" && commit != want {
		return fmt.Errorf("%w: %s is a tag, which leads to commit %s", ErrRevisionNotFound, want, commit)
	}
	entries, err := listGitTree(objects, tree, cmp.Or(g.limits.Entries, treewriter.DefaultEntries))
	if err != nil {
		return err
	}
	w, err := treewriter.Create(g.req.Dir, g.limits.tree())
	if err != nil {
		return err
	}
	defer w.Abort()
	t := gitTree{objects: objects, writer: w, dir: g.req.Dir, maxFile: cmp.Or(g.limits.FileBytes, treewriter.DefaultFileBytes)}
	if err := t.write(entries); err != nil {
		return err
	}
	g.describe(commit, t)
	return nil
}

// describe fills in what is known of the package now.
func (g *gitFetch) describe(commit string, t gitTree) {
	g.pkg.Revision = commit
	g.pkg.Resolved = g.addr.resolved(commit)
	g.links = t.links
	for _, link := range t.links {
		g.pkg.Gitlinks = append(g.pkg.Gitlinks, link.path)
	}
	g.pkg.LeftOut = leftOut(t.writer)
	g.pkg.Warnings = t.writer.Warnings()
	warn := func(format string, args ...any) {
		g.pkg.Warnings = append(g.pkg.Warnings, fmt.Sprintf(format, args...))
	}
	if rival := g.chosen.warning(g.addr.ref, commit); rival != "" {
		warn("%s", rival)
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

// named lists paths for a person.
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

func (t *gitTree) write(entries []gitEntry) error {
	var blobs []gitEntry
	for _, e := range entries {
		switch e.mode & gitModeKind {
		case gitModeDir:
			if err := t.writer.Dir(e.path); err != nil {
				return err
			}
		case gitModeLeaf:
			t.links = append(t.links, e)
		case gitModeFile, gitModeLink:
			blobs = append(blobs, e)
		default:
			return &treewriter.PathError{Path: e.path, Reason: fmt.Sprintf("the mode %o is none of a file, directory or link", e.mode)}
		}
	}
	if err := t.writeBlobs(blobs); err != nil {
		return err
	}
	if err := t.objects.finish(); err != nil {
		return err
	}
	return finish(t.writer, t.dir)
}

func (t *gitTree) writeBlobs(blobs []gitEntry) error {
	if len(blobs) == 0 {
		return ErrEmpty
	}
	if err := t.readAttributes(blobs); err != nil {
		return err
	}
	ids := make([]string, len(blobs))
	for i, e := range blobs {
		ids[i] = e.id
	}
	t.objects.ask(ids...)
	for _, e := range blobs {
		obj, err := t.objects.next("blob")
		if err != nil {
			return err
		}
		if err := t.writeBlob(e, obj); err != nil {
			return err
		}
	}
	return nil
}

func (t *gitTree) writeBlob(e gitEntry, obj *gitObject) error {
	if e.mode&gitModeKind == gitModeLink {
		target, err := obj.bytes(maxGitLink)
		if err != nil {
			return fmt.Errorf("link %q: %w", e.path, err)
		}
		return t.writer.Symlink(e.path, string(target))
	}
	if obj.size > t.maxFile {
		return &treewriter.LimitError{Path: e.path, What: "bytes in one file", Max: t.maxFile}
	}
	if obj.size < maxLFSPointer && obj.startsWith(lfsPrefix) {
		t.pointers = append(t.pointers, e.path)
	}
	content, err := t.convert(e, obj)
	if err != nil {
		return err
	}
	return t.writer.File(e.path, e.mode&gitModeExec != 0, content)
}

// has reports whether the store has the commit.
func (g *gitFetch) has(ctx context.Context, id string) bool {
	objects, err := openGitObjects(ctx, g.git, g.store.dir)
	if err != nil {
		return false
	}
	defer objects.close()
	found, _, err := readGitCommit(objects, id)
	return err == nil && found == id
}
