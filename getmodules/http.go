package getmodules

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
)

// maxHops bounds the pages that lead from one to the next.
const maxHops = 5

// fetchHTTP fetches an archive, or asks a page where the package is and fetches
// it from there. go-getter has a getter for this too. It is not used because it
// cuts off what is over its limit in silence, and takes headers along to
// whichever host it is redirected to.
func (f *Fetcher) fetchHTTP(ctx context.Context, req Request) (*Package, error) {
	subdir := ""
	seen := map[addrs.ModulePackage]bool{}
	for hops := 0; ; hops++ {
		seen[req.Package] = true
		addr, err := f.parseHTTPAddress(req.Package)
		if err != nil {
			return nil, err
		}
		if addr.kind != "" {
			pkg, err := f.fetchHTTPArchive(ctx, req, addr)
			return inSubdir(req.Dir, subdir, pkg, err)
		}
		next, err := f.discover(ctx, req, addr)
		if err != nil {
			return nil, err
		}
		if subdir, err = addrs.JoinSubdir(next.Subdir, subdir); err != nil {
			return nil, err
		}
		req.Package, req.FromServer, req.Origin = next.Package, true, origin(addr.url)
		if err := checkLed(req); err != nil {
			return nil, err
		}
		switch {
		case seen[req.Package]:
			return nil, fmt.Errorf("%w: the pages lead in a circle", ErrRefusedLocation)
		case hops == maxHops:
			return nil, fmt.Errorf("%w: more than %d pages lead from one to the next", ErrRefusedLocation, maxHops)
		case !isHTTP(req.Package):
			pkg, err := f.fetchElsewhere(ctx, req)
			return inSubdir(req.Dir, subdir, pkg, err)
		}
	}
}

func isHTTP(pkg addrs.ModulePackage) bool {
	getter := pkg.Getter()
	return getter == "http" || getter == "https"
}

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

// fetchHTTPArchive downloads an archive and unpacks it. The archive is beside
// the result meanwhile, where there is room and whoever tidies up finds it.
func (f *Fetcher) fetchHTTPArchive(ctx context.Context, req Request, addr *archiveAddress) (_ *Package, err error) {
	file, err := os.CreateTemp(filepath.Dir(req.Dir), ".archive-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	d := &download{file: file, kind: addr.kind, limit: f.Limits.download(), progress: req.Progress}
	user, err := f.userFor(ctx, req, addr)
	if err != nil {
		return nil, err
	}
	target := httpTarget{url: addr.url, user: user, accept: http.StatusOK}
	if err := f.get(ctx, target, d.receive); err != nil {
		return nil, err
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
