package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// changedSince returns the projects in dirs that have changed since a git revision, in
// commits or in the work tree. All projects must be in the repository of the first one.
func changedSince(ctx context.Context, dirs []string, rev string, req cotter.Request) ([]string, error) {
	git := &gitexec.Git{}
	tree, err := git.WorkTree(dirs[0])
	if errors.Is(err, gitexec.ErrNoRepository) {
		return nil, fmt.Errorf("--since %s: the directory %q is not in a git repository", rev, dirs[0])
	}
	if err != nil {
		return nil, fmt.Errorf("--since: %w", err)
	}
	files, err := tree.ChangedSince(ctx, rev)
	if err != nil {
		return nil, fmt.Errorf("--since: %w", err)
	}
	return (&cotter.Installer{}).ChangedRoots(ctx, dirs, files, req)
}
