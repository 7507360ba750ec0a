package modtest

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// PublishError says that a change of the served content failed.
type PublishError struct {
	Name string // the package, the repository or the archive
	Ref  string // the version or the tag; "" for an archive
	Err  error
}

func (e *PublishError) Error() string {
	if e.Ref == "" {
		return fmt.Sprintf("modtest: publish %q: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("modtest: publish %q of %q: %v", e.Ref, e.Name, e.Err)
}

// Unwrap returns [fs.ErrNotExist] for a repository, tag or version that does not exist.
func (e *PublishError) Unwrap() error { return e.Err }

var (
	errBadRepo    = errors.New(`the last element, and no other one, must end in ".git"`)
	errBadArchive = errors.New(`the last element, and no other one, must end in ".zip" or ".tar.gz"`)
)

func publishError(name, ref string, err error) error {
	if err == nil {
		return nil
	}
	return &PublishError{name, ref, err}
}

// PublishVersion adds a version of the package pkg ("acme/net/aws"), or replaces its files, which a real
// registry should never do; the tag in a git repository moves. The error is a [*PublishError].
func (w *World) PublishVersion(pkg, version string, files fs.FS) error {
	return publishError(pkg, version, w.registry.put(pkg, version, files, w.git.publish))
}

// SetDiscovered sets when the registry first saw a version, which it reports like OpenTofu's. The error is
// a [*PublishError].
func (w *World) SetDiscovered(pkg, version string, at time.Time) error {
	return publishError(pkg, version, w.registry.packages.change(pkg, version, func(versions map[string]moduleRelease) {
		versions[version] = moduleRelease{versions[version].files, at.UTC().Truncate(time.Second)}
	}))
}

// WithdrawVersion removes a version from the registry's list, but not its tag. The error is a
// [*PublishError].
func (w *World) WithdrawVersion(pkg, version string) error {
	return publishError(pkg, version, w.registry.packages.withdraw(pkg, version))
}

// PublishTag adds a commit with these files to the branch main of a repository, which it creates if
// necessary, and a tag; an existing tag moves as with [World.MoveTag]. The error is a [*PublishError].
func (w *World) PublishTag(repo, tag string, files fs.FS) error {
	if !isWholeRoot(repo, isRepo) {
		return publishError(repo, tag, errBadRepo)
	}
	return publishError(repo, tag, w.git.publish(repo, tag, files))
}

// MoveTag makes a tag point to a new commit with these files, on top of the tag's previous one. The branch
// main stays, so the old commit remains in the repository. The error is a [*PublishError].
func (w *World) MoveTag(repo, tag string, files fs.FS) error {
	return publishError(repo, tag, w.git.move(repo, tag, files))
}

// DeleteTag removes a tag of a repository, but no commit of the branch. The error is a [*PublishError].
func (w *World) DeleteTag(repo, tag string) error {
	return publishError(repo, tag, w.git.with(repo, func(r *repository, git string) error { return r.remove(git, tag) }))
}

// ProposeCommit adds a commit with these files on top of main, to which only ref points, such as
// "refs/pull/1/head": forges do so for pull requests, which anyone can open. It returns the commit's id.
// The error is a [*PublishError].
func (w *World) ProposeCommit(repo, ref string, files fs.FS) (id string, err error) {
	if !strings.HasPrefix(ref, "refs/") || !validTag(path.Base(ref)) {
		return "", publishError(repo, ref, errBadTag)
	}
	err = w.git.with(repo, func(r *repository, _ string) error {
		id, err = r.propose(ref, files)
		return err
	})
	return id, publishError(repo, ref, err)
}

// ReplaceRepository replaces a repository by one with a single commit of these files, tagged, on main. The
// error is a [*PublishError].
func (w *World) ReplaceRepository(repo, tag string, files fs.FS) error {
	if !validTag(tag) {
		return publishError(repo, tag, errBadTag)
	}
	return publishError(repo, tag, w.git.with(repo, func(r *repository, _ string) error { return r.restart(tag, files) }))
}

// Commit returns the id of the commit that a tag of a repository points to now, or for "_HEAD" the last one
// of main. The repository of "acme/net/aws" is "registry/acme/net/aws.git", with versions behind a "v" as
// tags. The error is a [*PublishError].
func (w *World) Commit(repo, tag string) (string, error) {
	id, err := w.git.commit(repo, tag)
	return id, publishError(repo, tag, err)
}

// PublishArchive adds or replaces the archive name ("net.zip"). The error is a [*PublishError].
func (w *World) PublishArchive(name string, files fs.FS) error {
	if !isWholeRoot(name, isArchive) {
		return publishError(name, "", errBadArchive)
	}
	w.archives.publish(name, files)
	return nil
}

// PushOCI pushes an artifact of the given shape, with these files, and makes the tag point to it. The
// former artifact remains accessible by its digest. The error is a [*PublishError].
func (w *World) PushOCI(repo, tag string, shape OCIShape, files fs.FS) error {
	return publishError(repo, tag, w.oci.push(repo, tag, shape, files))
}

// OCIDigest returns the digest ("sha256:...") of the manifest that a tag points to now. The error is a
// [*PublishError].
func (w *World) OCIDigest(repo, tag string) (string, error) {
	found, err := w.oci.digest(repo, tag)
	return found, publishError(repo, tag, err)
}
