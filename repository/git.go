package repository

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/internal/project"
)

// HasConfiguration reports whether the directory of a request has files that tofu or terraform
// reads: configuration or tests. It parses nothing. It returns an error if the directory cannot be
// listed.
func HasConfiguration(ctx context.Context, req cotter.Request) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, errors.Join(err, context.Cause(ctx))
	}
	reader := configs.Reader{Terraform: req.Dialect == cotter.DialectTerraform}
	empty, err := reader.Empty(configs.Dir{Path: cmp.Or(req.Dir, "."), Tests: cmp.Or(req.Inputs.TestDir, configs.DefaultTests)})
	return !empty, err
}

// Dir returns the root of the git repository that contains a directory, as an absolute
// path. For a directory that is not in a repository, it returns the directory.
func Dir(dir string) (string, error) {
	dir, err := filepath.Abs(cmp.Or(dir, "."))
	if err != nil {
		return "", err
	}
	dirs := project.RepositoryDirs(dir)
	return dirs[len(dirs)-1], nil
}

// ChangedFiles returns the absolute paths of the files that have changed since a git revision, in
// commits or in the work tree, in the repository that contains a directory. [ChangedRoots] selects the
// root modules that depend on them. The error wraps [cotter.ErrNoRepository] if there is no
// repository, and is a *[cotter.RepositoryOwnerError] if this user may not use it.
func ChangedFiles(ctx context.Context, dir, revision string) ([]string, error) {
	tree, err := worktree.Open(&gitexec.Git{}, dir)
	if err != nil {
		return nil, err
	}
	return tree.ChangedSince(ctx, revision)
}
