package getmodules

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/net/html"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// maxHops bounds how many pages in a row may point to another page.
const maxHops = 5

// fetchHTTP fetches an archive, or a page and the package that it points to. go-getter's getter is not
// used: it silently truncates downloads at its limit, and sends headers to any host that it is redirected
// to.
func (f *Fetcher) fetchHTTP(ctx context.Context, req Request) (*Package, error) {
	addr, err := f.parseHTTPAddress(req.Package)
	if err != nil {
		return nil, err
	}
	subdir, page := "", ""
	seen := map[addrs.ModulePackage]bool{}
	for hops := 0; addr.format == nil; hops++ {
		seen[req.Package] = true
		next, err := f.discover(ctx, req, addr)
		if err != nil {
			return nil, onPage(page, req, err)
		}
		if subdir, err = addrs.JoinSubdir(next.Subdir, subdir); err != nil {
			return nil, onPage(page, req, err)
		}
		page = req.Package.Redacted()
		req.Package, req.FromServer, req.Origin = next.Package, true, hostname.Origin(addr.url)
		if err := checkNext(ctx, req); err != nil {
			return nil, err
		}
		ctx = limited(ctx, req)
		switch {
		case seen[req.Package]:
			return nil, fmt.Errorf("%w: the pages point to each other in a circle, back to %q", ErrRefusedLocation, req.Package.Redacted())
		case hops == maxHops:
			return nil, fmt.Errorf("%w: more than %d pages point to another one, the last to %q", ErrRefusedLocation, maxHops, req.Package.Redacted())
		case !isHTTP(req.Package):
			pkg, err := f.fetchElsewhere(ctx, req)
			if err != nil {
				return nil, onPage(page, req, err)
			}
			return inSubdir(req.Dir, subdir, pkg)
		}
		if addr, err = f.parseHTTPAddress(req.Package); err != nil {
			return nil, onPage(page, req, err)
		}
	}
	pkg, err := f.fetchHTTPArchive(ctx, req, addr)
	if err != nil {
		return nil, onPage(page, req, err)
	}
	return inSubdir(req.Dir, subdir, pkg)
}

// onPage returns a [PageError] if a page pointed to the address of the request.
func onPage(page string, req Request, err error) error {
	if page == "" || isCancelled(err) {
		return err
	}
	return &PageError{Page: page, Package: req.Package.Redacted(), Err: err}
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
	}
	return addr, nil
}

// maxPage is in bytes. Only the head of a page is used, but all of it is read.
const maxPage = 1 << 20

// discover returns the location that a page names, in the header X-Terraform-Get or in a meta element. This
// is go-getter's protocol; terraform-get=1 tells the server that the client supports it.
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
		return addrs.ModuleSourceRemote{}, err
	}
	if location == "" {
		return addrs.ModuleSourceRemote{}, fmt.Errorf("%w: it has neither the header X-Terraform-Get nor a meta element terraform-get; "+
			"if it is an archive, its name must end in .zip, .tar.gz or .tar.bz2, or the address needs ?archive=", ErrNoLocation)
	}
	return parseLocation(location)
}

// parseLocation requires a full URL, because the meaning of "github.com/a/b" or "../b" depends on the
// context.
func parseLocation(location string) (addrs.ModuleSourceRemote, error) {
	if len(location) > httpx.MaxLocation {
		return addrs.ModuleSourceRemote{}, fmt.Errorf("%w: the page points to an address of more than %d bytes", ErrRefusedLocation, httpx.MaxLocation)
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

// metaLocation returns the content of the meta element in the head of a page, or "". Others than the page's
// owner may have written what is after the head.
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

// inSubdir sets the subdirectory that a page points to, relative to that of pkg. It becomes the package, so
// links that point out of it are left out too.
func inSubdir(dir, subdir string, pkg *Package) (*Package, error) {
	subdir, err := addrs.JoinSubdir(pkg.Subdir, subdir)
	if err != nil {
		return nil, err
	}
	if subdir == "" || subdir == "." {
		pkg.Subdir = ""
		return pkg, nil
	}
	if pkg.Subdir, err = FindSubdir(dir, subdir); err != nil {
		return nil, fmt.Errorf("the address to which the page points: %w", err)
	}
	pruned, err := treewriter.PruneLinks(filepath.Join(dir, filepath.FromSlash(pkg.Subdir)))
	if err != nil {
		return nil, err
	}
	pkg.Warnings = append(pkg.Warnings, pruned.Warnings()...)
	for _, link := range leftOut(pruned) {
		link.Path = path.Join(pkg.Subdir, link.Path)
		pkg.LeftOut = append(pkg.LeftOut, link)
	}
	sortLinks(pkg.LeftOut)
	return pkg, nil
}

// FindSubdir returns the path of a subdirectory of a fetched package in dir. subdir has forward slashes,
// and may be a pattern as for [path.Match] that matches exactly one directory: forges name the directory in
// their archives after the commit. Links out of dir are not followed. Without a pattern, a missing
// directory is an fs.ErrNotExist.
func FindSubdir(dir, subdir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if subdir == "" {
		return "", nil
	}
	matches := []string{subdir}
	if strings.ContainsAny(subdir, `*?[\`) {
		if matches, err = globDirs(pathsafe.FS(root), subdir); err != nil {
			return "", err
		}
	}
	if len(matches) != 1 {
		return "", fmt.Errorf("the subdirectory %q matches %d directories of the package instead of one", subdir, len(matches))
	}
	info, err := root.Stat(matches[0])
	if err != nil {
		return "", fmt.Errorf("the subdirectory %q: %w", subdir, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%q is not a directory", matches[0])
	}
	return matches[0], nil
}

func globDirs(fsys fs.FS, pattern string) ([]string, error) {
	all, err := fs.Glob(fsys, pattern)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, name := range all {
		if info, err := fs.Stat(fsys, name); err == nil && info.IsDir() {
			dirs = append(dirs, name)
		}
	}
	return dirs, nil
}
