package getmodules

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
)

// maxHops bounds how many pages in a row may point to another page.
const maxHops = 5

// fetchHTTP fetches an archive, or requests a page that names the location of the package and
// fetches the package from there. go-getter also has a getter for this. It is not used because
// it silently truncates downloads at its limit, and sends headers to any host that it is
// redirected to.
func (f *Fetcher) fetchHTTP(ctx context.Context, req Request) (*Package, error) {
	addr, err := f.parseHTTPAddress(req.Package)
	if err != nil {
		return nil, err
	}
	subdir := ""
	seen := map[addrs.ModulePackage]bool{}
	for hops := 0; addr.kind == ""; hops++ {
		seen[req.Package] = true
		next, err := f.discover(ctx, req, addr)
		if err != nil {
			return nil, onPage(hops, req, err)
		}
		if subdir, err = addrs.JoinSubdir(next.Subdir, subdir); err != nil {
			return nil, onPage(hops, req, err)
		}
		req.Package, req.FromServer, req.Origin = next.Package, true, httpx.Origin(addr.url)
		if err := checkNext(req); err != nil {
			return nil, err
		}
		switch {
		case seen[req.Package]:
			return nil, fmt.Errorf("%w: the pages point to each other in a circle, back to %q", ErrRefusedLocation, req.Package.Redacted())
		case hops == maxHops:
			return nil, fmt.Errorf("%w: more than %d pages point to another one, the last to %q", ErrRefusedLocation, maxHops, req.Package.Redacted())
		case !isHTTP(req.Package):
			pkg, err := f.fetchElsewhere(ctx, req)
			if err != nil {
				return nil, onPage(hops+1, req, err)
			}
			return inSubdir(req.Dir, subdir, pkg)
		}
		if addr, err = f.parseHTTPAddress(req.Package); err != nil {
			return nil, onPage(hops+1, req, err)
		}
	}
	pkg, err := f.fetchHTTPArchive(ctx, req, addr)
	if err != nil {
		return nil, onPage(len(seen), req, err)
	}
	return inSubdir(req.Dir, subdir, pkg)
}

// onPage adds the address of the request to an error if a page pointed to it. [FetchError]
// names the address that the user wrote.
func onPage(hops int, req Request, err error) error {
	if hops == 0 || isCancelled(err) {
		return err
	}
	return fmt.Errorf("the page points to %q: %w", req.Package.Redacted(), err)
}

func isHTTP(pkg addrs.ModulePackage) bool {
	getter := pkg.Getter()
	return getter == "http" || getter == "https"
}

// fetchElsewhere fetches a package that a page points to, by another getter.
func (f *Fetcher) fetchElsewhere(ctx context.Context, req Request) (*Package, error) {
	get, err := f.getterFor(req.Package)
	if err != nil {
		return nil, err
	}
	return get(f, ctx, req)
}

func (f *Fetcher) parseHTTPAddress(pkg addrs.ModulePackage) (*archiveAddress, error) {
	addr, err := f.parseArchiveAddress(pkg)
	switch {
	case err != nil:
		return nil, err
	case addr.url.Scheme != "http" && addr.url.Scheme != "https":
		return nil, fmt.Errorf("%w: %q is not fetched by http", ErrUnsupportedScheme, addr.url.Scheme)
	case addr.url.Host == "":
		return nil, errors.New("the address has no host")
	case addr.kind == "" && addr.checksum != "":
		return nil, errChecksumOfDirectory
	}
	return addr, nil
}

// fetchHTTPArchive downloads an archive to a temporary file next to the result, and unpacks it.
func (f *Fetcher) fetchHTTPArchive(ctx context.Context, req Request, addr *archiveAddress) (_ *Package, err error) {
	file, err := os.CreateTemp(filepath.Dir(req.Dir), ".archive-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	user, err := f.userFor(ctx, req, addr)
	if err != nil {
		return nil, err
	}
	isForges, err := f.downloadArchive(ctx, req, addr, user, file)
	if err != nil {
		return nil, withCredentials(err, user)
	}
	if err := f.verifyChecksum(ctx, req, addr, file); err != nil {
		return nil, err
	}
	pkg, err := f.extract(ctx, file, addr.kind, req.Dir)
	if err != nil {
		return nil, err
	}
	pkg.Resolved = addr.resolved()
	if isForges {
		pkg.ArchiveSum = ""
	}
	return pkg, nil
}

// wantOK returns an error for an answer with a 2xx status other than 200, such as partial
// content.
func wantOK(answer *httpx.Response) error {
	if answer.StatusCode != http.StatusOK {
		return answer.StatusError()
	}
	return nil
}
