package getmodules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// Getter downloads from a kind of source; see [Fetcher].Getters, and [GitGetter] for git. It must be safe
// for concurrent use. [Fetcher.Fetch] checks whether the address is allowed, cancels ctx if the download is
// too large or stalls, removes control characters and the secrets of the address from error texts, and
// makes the package by the rules for all packages: an archive is unpacked, and a directory, which must have
// no version control data, is copied.
type Getter interface {
	// Get downloads the file or directory at from.Location to from.Path, and retries failed requests. It
	// must return when ctx is done.
	Get(ctx context.Context, from Download) (Downloaded, error)
}

// Download describes a download that a [Getter] is asked to do.
type Download struct {
	// Location is without the arguments archive and checksum. It is the place that the policy allowed, so a
	// Getter requests only Location.URL, or its Bucket. It may contain credentials.
	Location addrs.Location
	// Archive is set for an archive, of which Get writes the file. Otherwise Get writes a directory.
	Archive bool
	// Revision pins the revision, as in Request; "" means the one that Location resolves to. For a version that was
	// selected from [Downloaded.Tags], it is the tag's Revision or, without one, its Name.
	Revision string
	// List asks only which versions Location has, for a call with a version argument: Get answers with
	// [Downloaded.Tags], and what it writes does not count. It is set only for kinds that are not built in, nor s3, gcs
	// or hg.
	List bool
	// FromServer and FromPackage are as in Request. The user did not write such an address, so a Getter
	// must not let it choose among the user's credentials.
	FromServer, FromPackage bool
	// UserAgent is [Fetcher].UserAgent, for a Getter without its own; "" means "cotter".
	UserAgent string
	// Path is the absolute path to write, which does not exist. Its parent is private to this download, and
	// may have temporary files.
	Path string
}

// Downloaded describes the result of a download. The zero value is valid for sources without revisions.
type Downloaded struct {
	// Revision is what was downloaded, and becomes the Revision of the Package. If [Download.Revision] is set, it must be
	// the same.
	Revision string
	// Resolved is the immutable address for the lock; the zero value means the requested one, with Revision as the
	// argument rev, unless the kind has revisions of its own. Credentials are removed.
	Resolved addrs.ModulePackage
	// Tags answers [Download.List]; nil means that the Getter lists no versions, which is an error. Names are versions,
	// with or without a "v", and others do not count. They may begin as those of git tags for the directory in the
	// address do.
	Tags []Tag
}

func fetchBy(getter Getter) getFunc {
	return func(f *Fetcher, ctx context.Context, req Request) (*Package, error) {
		addr, err := f.parseArchiveAddress(req.Package)
		if err != nil {
			return nil, err
		}
		from := f.newDownload(req, addr.location)
		from.Archive = addr.format != nil
		return f.fetchDownload(ctx, req, getter, from, addr)
	}
}

func (f *Fetcher) newDownload(req Request, at addrs.Location) Download {
	return Download{Location: at, Revision: req.Revision, FromServer: req.FromServer, FromPackage: req.FromPackage, UserAgent: f.UserAgent}
}

// fetchDownload lets a getter download next to req.Dir, and makes the package from the result. addr is nil for a
// package that is not an archive.
func (f *Fetcher) fetchDownload(ctx context.Context, req Request, getter Getter, from Download, addr *archiveAddress) (_ *Package, err error) {
	scratch, err := os.MkdirTemp(filepath.Dir(req.Dir), ".download-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if scratch, err = filepath.Abs(scratch); err != nil {
		return nil, err
	}
	from.Path = filepath.Join(scratch, "package")
	got, size, err := f.download(ctx, req, getter, from)
	if err != nil {
		return nil, err
	}
	var pkg *Package
	if from.Archive {
		pkg, err = f.unpackDownload(ctx, req, addr, from.Path)
	} else {
		pkg, err = f.copyDownload(ctx, req, from.Path)
	}
	if err != nil {
		return nil, err
	}
	pkg.Bytes = size
	pkg.Revision = got.Revision
	pkg.Resolved = resolvedDownload(req, got)
	if req.Revision != "" && got.Revision != req.Revision {
		return nil, errors.Join(fmt.Errorf("%w: %q was asked for, and the getter returned %q", ErrRevisionNotFound, req.Revision, got.Revision), os.RemoveAll(req.Dir))
	}
	return pkg, nil
}

// download runs and watches a getter.
func (f *Fetcher) download(ctx context.Context, req Request, getter Getter, from Download) (Downloaded, int64, error) {
	w := newWatch(ctx, f, req, from)
	watched, stop := w.start(ctx)
	got, err := getter.Get(watched, from)
	size, refused := stop()
	switch {
	case refused != nil:
		err = refused
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = shownError(err, from.Location.URL())
	}
	return got, size, err
}

// listDownload asks a getter for the versions of a package.
func (f *Fetcher) listDownload(ctx context.Context, req Request, getter Getter) (_ []Tag, err error) {
	addr, err := f.parseArchiveAddress(req.Package)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp(req.Scratch, ".download-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	from := f.newDownload(req, addr.location)
	from.Path, from.Revision, from.List = filepath.Join(scratch, "list"), "", true
	got, _, err := f.download(ctx, req, getter, from)
	switch {
	case err != nil:
		return nil, err
	case got.Tags == nil:
		return nil, fmt.Errorf("%w: %q; its getter lists no versions", ErrUnsupportedScheme, req.Package.Getter())
	case len(got.Tags) > maxTags:
		return nil, fmt.Errorf("%w: the getter lists more than %d versions", ErrTooLarge, maxTags)
	}
	tags := slices.Clone(got.Tags)
	slices.SortFunc(tags, func(a, b Tag) int { return strings.Compare(a.Name, b.Name) })
	return tags, nil
}

func (f *Fetcher) unpackDownload(ctx context.Context, req Request, addr *archiveAddress, name string) (*Package, error) {
	switch info, err := os.Lstat(name); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: the download is not a file (mode %s)", ErrNotArchive, info.Mode())
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return f.extractVerified(ctx, req, addr, file)
}

// copyDownload makes the package from a directory, which must have files and no version control data.
func (f *Fetcher) copyDownload(ctx context.Context, req Request, name string) (*Package, error) {
	switch info, err := os.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrEmpty
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%w: the download is not a directory (mode %s)", ErrUnsafeEntry, info.Mode())
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w, err := treewriter.Create(ctx, req.Dir, f.Limits.tree())
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if err := w.CopyFS(ctx, pathsafe.FS(root)); err != nil {
		return nil, err
	}
	if err := finish(w, req.Dir); err != nil {
		return nil, err
	}
	return &Package{LeftOut: leftOut(w), Warnings: w.Warnings()}, nil
}

// resolvedDownload returns the address to record. The checksum has been verified, and the hashes of a lock
// are stronger.
func resolvedDownload(req Request, got Downloaded) addrs.ModulePackage {
	resolved := cmp.Or(got.Resolved, req.Package).WithoutCredentials().Without("checksum")
	if (got.Resolved.IsZero() || req.Revision != "") && got.Revision != "" && !resolved.HasRevisions() {
		return resolved.WithArg("rev", got.Revision)
	}
	return resolved
}

// secretsOf returns the values in a URL that must not appear in errors: all but those that select the
// content.
func secretsOf(u *url.URL) []string {
	var secrets []string
	if u.User != nil {
		password, _ := u.User.Password()
		secrets = append(secrets, u.User.Username(), password)
	}
	for name, values := range u.Query() {
		for _, value := range values {
			shown := "?" + url.Values{name: {value}}.Encode()
			if addrs.Redact(shown) != shown {
				secrets = append(secrets, value)
			}
		}
	}
	return append(secrets, u.Fragment)
}

// shownError hides control characters and the secrets of an address.
func shownError(err error, at *url.URL) error {
	return &getterError{err, sanitize.Escape(sanitize.Redact(err.Error(), secretsOf(at)))}
}

type getterError struct {
	err  error
	text string
}

func (e *getterError) Error() string { return e.text }
func (e *getterError) Unwrap() error { return e.err }
