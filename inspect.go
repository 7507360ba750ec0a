package cotter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/lockfile"
)

// The functions of this file answer questions of programs about a project, its repository and its
// user. They change nothing and send no requests.

var (
	// ErrNoVersionsOffline is an [ErrOffline] for a call whose version cannot be selected: the lock
	// has none that fits, and the versions cannot be listed.
	ErrNoVersionsOffline = origins.ErrCannotList
	// ErrUnconfirmedOffline is an [ErrOffline] for a package whose entry in the lock no origin has
	// confirmed to this user.
	ErrUnconfirmedOffline = fmt.Errorf("no origin has confirmed the lock's entry for it on this machine, and %w", ErrOffline)
	// ErrNoRepository says that a directory is not in a git repository.
	ErrNoRepository = gitdir.ErrNoRepository
	// ErrShortStateKey says that Installer.StateKey is too short for a secret.
	ErrShortStateKey = userkey.ErrShortSecret
)

// RepositoryOwnerError says that a git repository belongs to another user, and that git's setting
// safe.directory does not allow it.
type RepositoryOwnerError = gitdir.OwnerError

// NotVendorDirError says that the directory in which packages are to be vendored has other content.
type NotVendorDirError = project.NotOursError

// UnknownToTerraform is the Extra of a diagnostic (see [hcl.DiagnosticExtra]) for a value that
// Terraform does not know before the modules are installed. OpenTofu may know it.
type UnknownToTerraform = configs.UnknownToTerraform

// ReadLockAt returns the lock of a request as it was at a git revision. The revision can be
// followed by a colon and the path of another file, as for git show. If the project has no lock at
// the revision, ReadLockAt returns an empty lock; for a path, the error wraps fs.ErrNotExist. The
// error wraps [ErrNoRepository] if there is no repository, and is a *[RepositoryOwnerError] if this
// user may not use it; a lock that is not valid is a *[LockFileError].
func ReadLockAt(ctx context.Context, req Request, revision string) (*lockfile.File, error) {
	tree, err := worktree.Open(&gitexec.Git{}, req.dir())
	if err != nil {
		return nil, err
	}
	rev, file, named := strings.Cut(revision, ":")
	if !named {
		file = "./" + filepath.ToSlash(req.lockFile())
	}
	src, err := tree.Show(ctx, rev, file, lockfile.MaxSize+1)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return &lockfile.File{}, nil
	}
	if err != nil {
		return nil, err
	}
	lock, diags := lockfile.Parse(src, revision)
	if diags.HasErrors() {
		return nil, &LockFileError{File: revision, Diagnostics: diags}
	}
	return lock, nil
}
