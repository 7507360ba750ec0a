package getmodules

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/treewriter"
)

// fetchFile copies a local directory, or unpacks a local archive. Stock tools link to the
// directory instead, so that edits take effect at once. That is not possible here, because a
// locked package must not change without its lock.
func (f *Fetcher) fetchFile(ctx context.Context, req Request) (*Package, error) {
	addr, err := f.parseArchiveAddress(req.Package)
	if err != nil {
		return nil, err
	}
	name, err := localPath(addr.url)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	switch {
	case addr.kind != "" && info.Mode().IsRegular():
		return f.fetchLocalArchive(ctx, req, addr, name)
	case addr.kind != "":
		return nil, fmt.Errorf("%w: %q is not a file", ErrNotArchive, name)
	case addr.checksum != "":
		return nil, errChecksumOfDirectory
	case info.IsDir():
		return f.copyDirectory(ctx, req, addr, name)
	}
	return nil, fmt.Errorf("%w: %q is neither a directory nor an archive; supported are %s", ErrNotArchive, name, f.supportedArchives())
}

// errNotAbsolute means that an address has no path from the root directory.
var errNotAbsolute = fmt.Errorf("%w: a file address needs an absolute path, as in file:///path", ErrUnsupportedScheme)

// localPath returns the path of a file URL.
func localPath(u *url.URL) (string, error) {
	if u.Scheme != "file" && u.Scheme != "" || u.Host != "" && u.Host != "localhost" {
		return "", fmt.Errorf("%w: a file address has the form file:///path", ErrUnsupportedScheme)
	}
	name := u.Path
	if runtime.GOOS == "windows" {
		name = strings.TrimPrefix(name, "/")
	}
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		return "", errNotAbsolute
	}
	return filepath.Clean(name), nil
}

func (f *Fetcher) fetchLocalArchive(ctx context.Context, req Request, addr *archiveAddress, name string) (*Package, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	pkg, err := f.extractVerified(ctx, req, addr, file)
	if err != nil {
		return nil, err
	}
	pkg.Resolved = addr.resolved()
	return pkg, nil
}

func (f *Fetcher) copyDirectory(ctx context.Context, req Request, addr *archiveAddress, name string) (*Package, error) {
	if err := checkNotInside(req.Dir, name); err != nil {
		return nil, err
	}
	pkg, err := f.copyTree(ctx, name, req.Dir, true)
	if err != nil {
		return nil, err
	}
	pkg.Resolved = addr.resolved()
	return pkg, nil
}

// copyTree creates the package in dir as a copy of another directory. A work tree may be
// empty, and its directories such as .git are skipped. Any other directory must have files, and
// must not contain version control data.
func (f *Fetcher) copyTree(ctx context.Context, name, dir string, isWorkTree bool) (*Package, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w, err := treewriter.Create(dir, f.Limits.tree())
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if err := w.CopyFS(ctx, root.FS(), isWorkTree); err != nil {
		return nil, err
	}
	end := func() error { return finish(w, dir) }
	if isWorkTree {
		end = w.Close
	}
	if err := end(); err != nil {
		return nil, err
	}
	return &Package{LeftOut: leftOut(w), Warnings: w.Warnings()}, nil
}

// checkNotInside returns an error if a directory would be copied into itself, which would not
// end. A destination in a .terraform directory is allowed, because .terraform is not copied.
// This allows a project to be part of the package that it uses.
func checkNotInside(dir, source string) error {
	parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		return err
	}
	if parent, err = filepath.Abs(parent); err != nil {
		return err
	}
	if source, err = filepath.EvalSymlinks(source); err != nil {
		return err
	}
	rel, err := filepath.Rel(source, parent)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	if !slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), ".terraform") {
		return errors.New("the directory contains the directory to which it would be copied")
	}
	return nil
}
