package worktree

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// IgnoredDirs says which directories of a checkout git ignores. A nil *IgnoredDirs ignores none.
type IgnoredDirs struct {
	tree    *Tree
	general []ignoreFile
	// tracked has the directories with a tracked file, and submodules, in lower case.
	tracked map[string]bool
}

// IgnoredBelow returns what git ignores below a directory: nothing if that is not in a repository, or is ignored itself.
// An error means that it is not known.
func IgnoredBelow(ctx context.Context, dir string) (*IgnoredDirs, error) {
	tree, err := Open(&gitexec.Git{}, dir)
	if errors.Is(err, gitdir.ErrNoRepository) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return tree.IgnoredDirs(ctx)
}

// IgnoredDirs is [IgnoredBelow] for Prefix.
func (w *Tree) IgnoredDirs(ctx context.Context) (*IgnoredDirs, error) {
	general, err := w.generalIgnores(ctx)
	if err != nil {
		return nil, err
	}
	d := &IgnoredDirs{tree: w, general: general, tracked: map[string]bool{}}
	entries, err := w.index()
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := strings.ToLower(entry.Name)
		if entry.SkipWorktree && path.Base(name) == gitignore {
			return nil, errIgnoreHidden
		}
		for ; name != "." && !d.tracked[name]; name = path.Dir(name) {
			d.tracked[name] = true
		}
	}
	if w.Prefix != "" && w.Prefix != "." {
		if rule, err := d.rule(w.Prefix); err != nil || rule != nil {
			return nil, err
		}
	}
	return d, nil
}

// Rule returns the rule by which git ignores a directory, by its path from the directory of [IgnoredBelow] with slashes,
// or nil. A directory with a tracked file is not ignored, nor is one if that is not known.
func (d *IgnoredDirs) Rule(name string) *IgnoreRule {
	if d == nil {
		return nil
	}
	rule, err := d.rule(path.Join(d.tree.Prefix, name))
	if err != nil || rule == nil {
		return nil
	}
	rule.File = d.tree.fromPrefix(rule.File)
	return rule
}

// rule gets the path from Top.
func (d *IgnoredDirs) rule(name string) (*IgnoreRule, error) {
	if !pathsafe.IsName(name) || d.tracked[strings.ToLower(name)] {
		return nil, nil
	}
	own, _, err := d.tree.ownIgnores(name)
	if err != nil {
		return nil, err
	}
	return findIgnoreInAnyCase(append(d.general[:len(d.general):len(d.general)], own...), name, true)
}
