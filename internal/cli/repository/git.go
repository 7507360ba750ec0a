package repository

import (
	"cmp"
	"context"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/lockfile"
)

// HasConfiguration reports whether the directory of a project has files that tofu or terraform
// reads: configuration or tests. It parses nothing.
func HasConfiguration(ctx context.Context, p installer.Project) (bool, error) {
	if err := ctxerr.Of(ctx); err != nil {
		return false, err
	}
	reader := configread.Reader{Terraform: p.Dialect == installer.DialectTerraform}
	empty, err := reader.Empty(configread.Dir{Path: cmp.Or(p.Dir, "."), Tests: cmp.Or(p.Inputs.TestDir, configread.DefaultTests)})
	return !empty, err
}

// CompatibleWith returns the constraints on the version of tofu that the root module of a project has in
// its "language" block.
func CompatibleWith(ctx context.Context, p installer.Project) []string {
	return configread.Reader{}.ReadCompatibleWith(ctx, configread.Dir{Path: cmp.Or(p.Dir, ".")})
}

// ChangedFiles returns the absolute paths of the files that have changed since a git revision, in
// commits or in the work tree, in the repository that contains a directory. [ChangedRoots] selects the
// root modules that depend on them. The error wraps [ErrNoRepository] if there is no
// repository, and is a *[OwnerError] if this user may not use it.
func ChangedFiles(ctx context.Context, dir, revision string) ([]string, error) {
	tree, err := worktree.Open(&gitexec.Git{}, dir)
	if err != nil {
		return nil, err
	}
	return tree.ChangedSince(ctx, revision)
}

var ErrNoRepository = gitdir.ErrNoRepository

// OwnerError says that a git repository belongs to another user, and that git's setting
// safe.directory does not allow it. The installer does not use such a repository either.
type OwnerError = gitdir.OwnerError

// IgnoreRule is a line that makes git ignore a file.
type IgnoreRule = worktree.IgnoreRule

// IgnoredLock returns the rule by which git ignores a lock of a project, by its path from the project's directory. It
// returns nil if git does not, or tracks the file, or if that is not known.
func IgnoredLock(ctx context.Context, p installer.Project, lockFile string) *IgnoreRule {
	rule, err := worktree.IgnoredLock(ctx, cmp.Or(p.Dir, "."), lockFile)
	if err != nil {
		return nil
	}
	return rule
}

// HistoryEndError says that git's history of a lock could not be read to its end, and that the
// part that was read has no entries. An error of [installerinternal.Restore] can wrap it.
type HistoryEndError = worktree.HistoryEndError

// LockAt returns the lock of a project as it was at a git revision. The revision can be
// followed by a colon and the path of another file, as for git show. If the project has no lock at
// the revision, LockAt returns an empty lock; for a path, the error wraps fs.ErrNotExist. The
// error wraps [ErrNoRepository] if there is no repository, and is a *[OwnerError] if this
// user may not use it; a lock that is not valid is a *[lockfile.SyntaxError].
func LockAt(ctx context.Context, p installer.Project, revision string) (*lockfile.File, error) {
	return worktree.LockAt(ctx, cmp.Or(p.Dir, "."), lockFile(p), revision)
}
