package cotter

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/opendir"
	"github.com/cotterpin/cotter/internal/project"
)

// arrange stages the directories of the calls that share a whole package, now
// that all modules in them are known.
func (r *run) arrange(ctx context.Context, nodes []*node) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, n := range nodes {
		if n.ownsPackage() && n.pkg.arrange {
			group.Go(func() error {
				done, err := r.slot(ctx)
				if err != nil {
					return err
				}
				defer done()
				if err := r.arrangeCall(n, realDirs(n, nodes)); err != nil {
					return n.fail(err)
				}
				return nil
			})
		}
	}
	return group.Wait()
}

// arrangeCall builds a call's directory and hashes what it built.
func (r *run) arrangeCall(n *node, real []string) error {
	whole, err := opendir.Root(r.wholePath(n.pkg.whole))
	if err != nil {
		return err
	}
	defer whole.Close()
	l := &linkedPackage{dst: r.work.Stage(n.pkg.key), src: whole, name: n.pkg.whole, tree: n.pkg.tree, real: real, links: &r.links}
	if !l.allReal() {
		l.real = l.children("")
	}
	if err := l.build(""); err != nil {
		return err
	}
	n.pkg.staged = l.dst
	root, err := opendir.Root(l.dst)
	if err != nil {
		return err
	}
	defer root.Close()
	got, err := hashing.Reader{Whole: func(path, target string) *hashing.Tree {
		if project.LinkedTree(target, path) != n.pkg.whole {
			return nil
		}
		return n.pkg.tree.Tree
	}}.Read(hashing.RootFS(root))
	if err == nil && got != n.pkg.tree.Tree && got.T1() != n.pkg.tree.T1() {
		err = errors.New("the copy differs from the package")
	}
	if err != nil {
		return fmt.Errorf("%s changed while it was being placed: %w", n.pkg.whole, err)
	}
	if !l.linked {
		n.pkg.whole = "" // nobody needs it for this call's sake
	}
	return nil
}

// allReal reports whether all modules are in directories of the package. One
// that is reached by a link of the package's own is not; then the call gets a
// copy of everything.
func (l *linkedPackage) allReal() bool {
	for _, dir := range l.real {
		part := l.tree.Part(dir)
		if len(part) == 0 || part[0].Path == dir && part[0].Kind != hashing.EmptyDir {
			return false
		}
	}
	return true
}
