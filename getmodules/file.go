package getmodules

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"github.com/cotterpin/cotter/addrs"
)

// errDirectory says that a directory of this machine is used where it is, so that edits take effect
// at once.
var errDirectory = fmt.Errorf("%w: a directory of this machine is not fetched", ErrUnsupportedScheme)

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
	name, ok := addrs.FilePath(u)
	if !ok {
		return "", errNotAbsolute
	}
	return name, nil
}
