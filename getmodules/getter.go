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

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/sanitize"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// Getter downloads from one kind of source that this package does not know
// itself; see [Fetcher].Getters. It must be safe for concurrent use.
//
// It is to download and no more. Fetch has checked who may point to the address
// before. It bounds what comes while it comes, ends ctx when that is too much
// or when nothing comes any more, takes the address's secrets and control
// characters out of the text of errors, and makes the package of what came, by
// the rules for all packages.
type Getter interface {
	// Get writes what is at from.URL to from.Path. It must end when ctx does.
	// Repeating what failed is its own business.
	Get(ctx context.Context, from Download) (Downloaded, error)
}

// Download is what a [Getter] is asked for.
type Download struct {
	// URL is the address behind the "::", without the arguments archive and
	// checksum. It may hold credentials.
	URL *url.URL
	// Archive says that there is one file at the URL, an archive in one of the
	// formats of the package comment, which is to become a file. Otherwise there
	// is a directory, or what takes the place of one, which is to become a
	// directory.
	Archive bool
	// Revision pins what must come, as Request's does; "" lets URL decide. A
	// getter that has no revisions never sees one.
	Revision string
	// FromServer says that a server's answer led to the address, as Request's
	// does.
	FromServer bool
	// UserAgent is [Fetcher].UserAgent, for a getter that has none of its own. ""
	// means "cotter".
	UserAgent string
	// Path is where it goes, an absolute path. Nothing is there. Its parent is
	// private to this download, and takes temporary files too.
	Path string
}

// Downloaded is what a [Getter] says of what it downloaded. The zero value will
// do where there are no revisions.
type Downloaded struct {
	// Revision names what came, for good: Package's Revision.
	Revision string
	// Resolved is the immutable address of what came. "" means the address that
	// was asked for. What could be a credential is taken out of either.
	Resolved addrs.ModulePackage
}

// fetchBy fetches with a getter from outside of this package.
func fetchBy(getter Getter) getFunc {
	return func(f *Fetcher, ctx context.Context, req Request) (*Package, error) {
		addr, err := f.parseArchiveAddress(req.Package)
		switch {
		case err != nil:
			return nil, err
		case addr.kind == "" && addr.checksum != "":
			return nil, errChecksumOfDirectory
		}
		return f.fetchDownload(ctx, req, getter, addr)
	}
}

// fetchDownload has a getter download into a private directory beside the
// result, and makes the package of it.
func (f *Fetcher) fetchDownload(ctx context.Context, req Request, getter Getter, addr *archiveAddress) (_ *Package, err error) {
	scratch, err := os.MkdirTemp(filepath.Dir(req.Dir), ".download-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if scratch, err = filepath.Abs(scratch); err != nil {
		return nil, err
	}
	from, err := f.downloadFrom(req, addr, filepath.Join(scratch, "package"))
	if err != nil {
		return nil, err
	}
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
	return pkg, nil
}

// downloadFrom is what to ask a getter for. Unlike http, it gets the fragment,
// in which object stores have versions.
func (f *Fetcher) downloadFrom(req Request, addr *archiveAddress, path string) (Download, error) {
	whole, err := req.Package.URL()
	if err != nil {
		return Download{}, err
	}
	u := *addr.url
	u.User, u.Fragment, u.RawFragment = addr.user, whole.Fragment, whole.RawFragment
	return Download{URL: &u, Archive: addr.kind != "", Revision: req.Revision, FromServer: req.FromServer, UserAgent: f.UserAgent, Path: path}, nil
}

// download runs a getter and watches what it writes.
func (f *Fetcher) download(ctx context.Context, req Request, getter Getter, from Download) (Downloaded, int64, error) {
	w := newWatch(f, req, from)
	watched, stop := w.start(ctx)
	got, err := getter.Get(watched, from)
	size, refused := stop()
	switch {
	case refused != nil:
		err = refused
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = &getterError{err, sanitize.Escape(sanitize.Redact(err.Error(), secretsOf(from.URL)))}
	}
	return got, size, err
}

// unpackDownload makes the package of an archive.
func (f *Fetcher) unpackDownload(ctx context.Context, req Request, addr *archiveAddress, name string) (*Package, error) {
	switch info, err := os.Lstat(name); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: what came is a %s", ErrNotArchive, info.Mode().Type())
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := f.verifyChecksum(ctx, req, addr, file); err != nil {
		return nil, err
	}
	return f.extract(ctx, file, addr.kind, req.Dir)
}

// copyDownload makes the package of a directory.
func (f *Fetcher) copyDownload(ctx context.Context, req Request, name string) (*Package, error) {
	switch info, err := os.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrEmpty
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%w: the getter left no directory (mode %s)", ErrUnsafeEntry, info.Mode())
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w, err := treewriter.Create(req.Dir, f.Limits.tree())
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	// Nothing is left out: this is no directory that anybody works in.
	if err := w.CopyFS(ctx, root.FS(), false); err != nil {
		return nil, err
	}
	if err := finish(w, req.Dir); err != nil {
		return nil, err
	}
	return &Package{LeftOut: leftOut(w), Warnings: w.Warnings()}, nil
}

// resolvedDownload is the address to keep. The checksum has done its work, and
// the lock's own sums are stronger.
func resolvedDownload(req Request, got Downloaded) addrs.ModulePackage {
	return cmp.Or(got.Resolved, req.Package).WithoutCredentials().Without("checksum")
}

// secretsOf are the values in a URL that must not be repeated: all but those
// that say which content is meant.
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

// getterError is an error of a getter, whose text is from anywhere.
type getterError struct {
	err  error
	text string
}

func (e *getterError) Error() string { return e.text }
func (e *getterError) Unwrap() error { return e.err }
