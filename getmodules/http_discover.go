package getmodules

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// maxPage bounds a page in which to look for a location. Its head is looked at
// alone, but that must come.
const maxPage = 1 << 20

// discover asks a page where the package is: by the header X-Terraform-Get, or
// by a meta element. That is how go-getter's protocol for http has it, and the
// argument terraform-get=1 tells the server that it is spoken.
func (f *Fetcher) discover(ctx context.Context, req Request, addr *archiveAddress) (addrs.ModuleSourceRemote, error) {
	page := *addr.url
	page.RawQuery = strings.TrimPrefix(page.RawQuery+"&terraform-get=1", "&")
	var location string
	receive := func(answer *httpAnswer) error {
		location = answer.Header.Get("X-Terraform-Get")
		if location != "" {
			return nil
		}
		text, err := answer.readAll(maxPage)
		location = metaLocation(text)
		return err
	}
	user, err := f.userFor(ctx, req, addr)
	if err != nil {
		return addrs.ModuleSourceRemote{}, err
	}
	if err := f.get(ctx, httpTarget{url: &page, user: user}, receive); err != nil {
		return addrs.ModuleSourceRemote{}, err
	}
	if location == "" {
		return addrs.ModuleSourceRemote{}, fmt.Errorf("%w: it has neither the header X-Terraform-Get nor such a meta element; "+
			"if it is an archive, its name must end in .zip, .tar.gz or .tar.bz2, or the address needs ?archive=", ErrNoLocation)
	}
	return parseLocation(location)
}

// parseLocation reads what a page says. It must say it in full: what
// "github.com/a/b" or "../b" mean is the user's configuration's business.
func parseLocation(location string) (addrs.ModuleSourceRemote, error) {
	if len(location) > maxLocation {
		return addrs.ModuleSourceRemote{}, fmt.Errorf("%w: the server leads to an address of more than %d bytes", ErrRefusedLocation, maxLocation)
	}
	source, err := addrs.ParseModuleSource(location)
	if err != nil {
		return addrs.ModuleSourceRemote{}, fmt.Errorf("%w: the server leads to no address: %w", ErrRefusedLocation, err)
	}
	remote, ok := source.(addrs.ModuleSourceRemote)
	if !ok || !strings.Contains(location, "://") {
		return addrs.ModuleSourceRemote{}, fmt.Errorf("%w: the server leads to %q, which is not a full URL", ErrRefusedLocation, addrs.Redact(location))
	}
	return remote, nil
}

// readAll is the body, which must not be larger than limit.
func (a *httpAnswer) readAll(limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(a.Body, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%w: the answer has more than %d bytes", ErrTooLarge, limit)
	}
	return text, err
}
