package getmodules

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
)

// maxPage bounds the size of a page that names a location, in bytes. Only the head of the page
// is used, but all of it is read.
const maxPage = 1 << 20

// discover requests a page and returns the location of the package that it names, in the header
// X-Terraform-Get or in a meta element. This is go-getter's protocol for http. The argument
// terraform-get=1 tells the server that the client supports it.
func (f *Fetcher) discover(ctx context.Context, req Request, addr *archiveAddress) (addrs.ModuleSourceRemote, error) {
	user, err := f.userFor(ctx, req, addr)
	if err != nil {
		return addrs.ModuleSourceRemote{}, err
	}
	page := *addr.url
	page.RawQuery = strings.TrimPrefix(page.RawQuery+"&terraform-get=1", "&")
	var location string
	err = f.get(ctx, &page, user, func(answer *httpx.Response) error {
		location = answer.Header.Get("X-Terraform-Get")
		if location != "" {
			return nil
		}
		text, err := answer.ReadAll(maxPage)
		location = metaLocation(text)
		return err
	})
	if err != nil {
		return addrs.ModuleSourceRemote{}, withCredentials(err, user)
	}
	if location == "" {
		return addrs.ModuleSourceRemote{}, fmt.Errorf("%w: it has neither the header X-Terraform-Get nor a meta element terraform-get; "+
			"if it is an archive, its name must end in .zip, .tar.gz or .tar.bz2, or the address needs ?archive=", ErrNoLocation)
	}
	return parseLocation(location)
}

// parseLocation parses the location in a page. It must be a full URL, because the meaning of
// "github.com/a/b" or "../b" depends on the context.
func parseLocation(location string) (addrs.ModuleSourceRemote, error) {
	if len(location) > maxLocation {
		return addrs.ModuleSourceRemote{}, fmt.Errorf("%w: the page points to an address of more than %d bytes", ErrRefusedLocation, maxLocation)
	}
	source, err := addrs.ParseModuleSource(location)
	if err != nil {
		return addrs.ModuleSourceRemote{}, fmt.Errorf("%w: the page points to an address that is not valid: %w", ErrRefusedLocation, err)
	}
	remote, ok := source.(addrs.ModuleSourceRemote)
	if !ok || !strings.Contains(location, "://") {
		return addrs.ModuleSourceRemote{}, fmt.Errorf("%w: the page points to %q, which is not a full URL", ErrRefusedLocation, addrs.Redact(location))
	}
	return remote, nil
}

// metaLocation returns the content of <meta name="terraform-get" content="..."> in the
// head of a page, or an empty string if the head has no such element. Elements after the
// head are ignored, because users other than the page's owner may have written them.
func metaLocation(page []byte) string {
	tokens := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			token := tokens.Token()
			if token.Data == "body" || token.Data == "head" && kind == html.EndTagToken {
				return ""
			}
			if token.Data == "meta" && attribute(token, "name") == "terraform-get" {
				return strings.TrimSpace(attribute(token, "content"))
			}
		}
	}
}

func attribute(token html.Token, name string) string {
	for _, attr := range token.Attr {
		if attr.Key == name {
			return attr.Val
		}
	}
	return ""
}
