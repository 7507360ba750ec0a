package getmodules

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// errDirectory says that a directory of this machine is used where it is, so that edits take effect
// at once.
var errDirectory = fmt.Errorf("%w: a directory of this machine is not fetched", ErrUnsupportedScheme)

// LocalDirectory returns the directory of this machine whose absolute path is the address of a package; ""
// for other addresses, such as that of an archive. It need not exist.
func LocalDirectory(pkg addrs.ModulePackage) string {
	if pkg.Getter() != "file" {
		return ""
	}
	addr, err := new(Fetcher).parseArchiveAddress(pkg)
	if err != nil || addr.format != nil {
		return ""
	}
	name, err := localPath(addr.url)
	if err != nil {
		return ""
	}
	return name
}

// fetchFile unpacks a local archive.
func (f *Fetcher) fetchFile(ctx context.Context, req Request) (*Package, error) {
	addr, err := f.parseArchiveAddress(req.Package)
	if err != nil {
		return nil, err
	}
	name, err := localPath(addr.url)
	if err != nil {
		return nil, err
	}
	if addr.format == nil {
		return nil, errDirectory
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %q is not a file", ErrNotArchive, name)
	}
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

var errNotAbsolute = fmt.Errorf("%w: a file address needs an absolute path, as in file:///path", ErrUnsupportedScheme)

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
