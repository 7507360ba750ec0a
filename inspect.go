package cotter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/packagedir"
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

// HasConfiguration reports whether the directory of a request has files that tofu or terraform
// reads: configuration or tests. It parses nothing. It returns an error if the directory cannot be
// listed.
func HasConfiguration(ctx context.Context, req Request) (bool, error) {
	if err := contextError(ctx); err != nil {
		return false, err
	}
	reader := configs.Reader{Terraform: req.Dialect == DialectTerraform}
	empty, err := reader.Empty(configs.Dir{Path: req.dir(), Tests: cmp.Or(req.Inputs.TestDir, configs.DefaultTests)})
	return !empty, err
}

// RepositoryDir returns the root of the git repository that contains a directory, as an absolute
// path. For a directory that is not in a repository, it returns the directory.
func RepositoryDir(dir string) (string, error) {
	dir, err := filepath.Abs(orElse(dir, "."))
	if err != nil {
		return "", err
	}
	dirs := project.RepositoryDirs(dir)
	return dirs[len(dirs)-1], nil
}

// ChangedFiles returns the absolute paths of the files that have changed since a git revision, in
// commits or in the work tree, in the repository that contains a directory. Installer.ChangedRoots
// selects the root modules that depend on them. The error wraps [ErrNoRepository] if there is no
// repository, and is a *[RepositoryOwnerError] if this user may not use it.
func ChangedFiles(ctx context.Context, dir, revision string) ([]string, error) {
	tree, err := worktree.Open(&gitexec.Git{}, dir)
	if err != nil {
		return nil, err
	}
	return tree.ChangedSince(ctx, revision)
}

// ReadLockAt returns the lock of a request as it was at a git revision. The revision can be
// followed by a colon and the path of another file, as for git show. If the project has no lock at
// the revision, ReadLockAt returns an empty lock; for a path, the error wraps fs.ErrNotExist. See
// [ChangedFiles] for other errors; a lock that is not valid is a *[LockFileError].
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

// VendorState says how the packages in Request.Vendor compare with the lock.
type VendorState struct {
	// Dir is the directory, relative to the root module's, with slashes.
	Dir string
	// Exists reports whether packages were vendored there.
	Exists bool
	// Verified, Missing and Changed are the calls in the lock whose packages match, do not exist,
	// and differ.
	Verified, Missing, Changed []addrs.Module
	// Unlocked are the calls of packages that the lock has no entry for.
	Unlocked []addrs.Module
}

// CompareVendored compares the packages in Request.Vendor with a lock. It returns an error if packages
// cannot be vendored in that directory; [ErrNoVendor] if the request names none.
func CompareVendored(ctx context.Context, req Request, lock *lockfile.File) (*VendorState, error) {
	vendored, err := req.vendorDir()
	if err != nil {
		return nil, err
	}
	if vendored == nil {
		return nil, ErrNoVendor
	}
	state := &VendorState{Dir: vendored.Name(), Exists: project.IsVendorDir(vendored.Path())}
	packages := packagedir.NewVendored(vendored)
	for _, entry := range lock.Modules() {
		if err := contextError(ctx); err != nil {
			return nil, err
		}
		path := pathOf(entry.Key)
		switch packages.Inspect(ctx, entry).Status {
		case packagedir.Missing:
			state.Missing = append(state.Missing, path)
		case packagedir.Verified:
			state.Verified = append(state.Verified, path)
		default:
			state.Changed = append(state.Changed, path)
		}
	}
	for _, key := range vendored.Keys() {
		if _, ok := lock.Module(key); !ok {
			state.Unlocked = append(state.Unlocked, recordedPath(key))
		}
	}
	return state, nil
}

// IsVendorDir reports whether a directory was created for the vendored packages of a root module.
func IsVendorDir(dir string) bool { return project.IsVendorDir(dir) }
