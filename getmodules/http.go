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

// maxHops bounds how many pages may point to further pages.
const maxHops = 5

// fetchHTTP fetches an archive, or asks a page where the package is and fetches
// it from there. go-getter has a getter for this too. It is not used because it
// silently cuts off what is over its limit, and sends headers on to any host that
// it is redirected to.
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

// onPage adds the address to an error if a page pointed to it; the user's own is
// told by [FetchError].
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

// fetchElsewhere fetches a package to which a page points, by another getter.
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

// fetchHTTPArchive downloads an archive and unpacks it. Meanwhile the archive is a
// temporary file beside the result.
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
	d := &download{file: file, kind: addr.kind, limit: f.Limits.download(), progress: req.Progress}
	if err := f.get(ctx, addr.url, user, d.receive); err != nil {
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
	if d.generated {
		pkg.ArchiveSum = ""
	}
	return pkg, nil
}

// wantOK returns an error for answers whose status is a 2xx other than 200, such
// as a part of the content.
func wantOK(answer *httpx.Response) error {
	if answer.StatusCode != http.StatusOK {
		return answer.StatusError()
	}
	return nil
}
