package gogetter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	getter "github.com/hashicorp/go-getter/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// Getter fetches module packages for clients of go-getter/v2. It is safe for concurrent use.
type Getter struct {
	// Fetcher fetches the packages. nil means one with the default settings, without a cache.
	Fetcher *getmodules.Fetcher
	// OnPackage is called with each package, for its warnings and the links that were left out. It may be
	// nil.
	OnPackage func(*getmodules.Package)
}

var _ getter.Getter = (*Getter)(nil)

// Between Detect and Get, the address is an argument of a URL without meaning for the client, which would
// find an archive to extract, a checksum and a file name in the address itself.
const (
	scheme          = "cotter"
	addressArgument = "address"
)

// Detect reports whether req.Src is the remote address of a module package, and hides it from the client.
func (g *Getter) Detect(req *getter.Request) (bool, error) {
	text := req.Src
	if req.Forced != "" {
		text = req.Forced + "::" + req.Src
	}
	source, err := addrs.ParseModuleSource(text)
	if err != nil {
		return false, nil // for another getter of the client
	}
	remote, ok := source.(addrs.ModuleSourceRemote)
	if !ok {
		return false, nil
	}
	if remote.Subdir != "" {
		return true, fmt.Errorf("the address %s has a subdirectory that go-getter does not see", remote.ForDisplay())
	}
	hidden := url.URL{
		Scheme:   scheme,
		Host:     "package",
		RawQuery: url.Values{addressArgument: {remote.Package.String()}}.Encode(),
	}
	req.Src, req.Forced = hidden.String(), ""
	return true, nil
}

// Mode returns ModeDir, because packages are directories.
func (g *Getter) Mode(context.Context, *url.URL) (getter.Mode, error) { return getter.ModeDir, nil }

// GetFile returns an error, because packages are directories.
func (g *Getter) GetFile(context.Context, *getter.Request) error {
	return errors.New("module packages are directories; single files are not fetched")
}

// Get fetches a package to req.Dst, which must not exist or must be an empty directory.
func (g *Getter) Get(ctx context.Context, req *getter.Request) (err error) {
	u := req.URL()
	if u == nil || u.Scheme != scheme {
		return errors.New("the request did not pass through Detect, as it does in a client of go-getter")
	}
	fetcher := g.Fetcher
	if fetcher == nil {
		fetcher = new(getmodules.Fetcher)
	}
	parent := filepath.Dir(req.Dst)
	if err := os.MkdirAll(parent, req.Mode(0o755)); err != nil {
		return err
	}
	staging, err := os.MkdirTemp(parent, ".cotter-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	dir := filepath.Join(staging, "package")
	pkg, err := fetcher.Fetch(ctx, getmodules.Request{
		Package: addrs.ParseModulePackage(u.Query().Get(addressArgument)),
		Dir:     dir,
	})
	if err != nil {
		return err
	}
	if err := mask(dir, req.Umask); err != nil {
		return err
	}
	if g.OnPackage != nil {
		g.OnPackage(pkg)
	}
	if pkg.Subdir != "" {
		dir = filepath.Join(dir, filepath.FromSlash(pkg.Subdir))
	}
	return replaceEmpty(dir, req.Dst)
}

// mask removes the permissions in a umask from a tree.
func mask(dir string, umask fs.FileMode) error {
	if umask == 0 {
		return nil
	}
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type() == fs.ModeSymlink {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(name, info.Mode().Perm()&^umask)
	})
}

// replaceEmpty moves a directory to dst, which must not exist or must be empty.
func replaceEmpty(dir, dst string) error {
	switch info, err := os.Lstat(dst); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.IsDir():
		return &fs.PathError{Op: "create", Path: dst, Err: fs.ErrExist}
	default:
		if err := os.Remove(dst); err != nil {
			return err // it is not empty
		}
	}
	return os.Rename(dir, dst)
}
