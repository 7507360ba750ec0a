package getmodules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/treewriter"
)

const (
	// maxSubmodules bounds the number of submodules of one package, including nested ones. Each
	// of them is a separate fetch.
	maxSubmodules = 200
	// maxSubmoduleDepth bounds the nesting of submodules in submodules.
	maxSubmoduleDepth = 10
)

// ErrSubmodule means that a submodule cannot be fetched as its repository specifies it.
var ErrSubmodule = errors.New("git submodule")

// submodules says how many more submodules a package may have, and how deeply the next ones are
// nested.
type submodules struct {
	left  *int
	depth int
}

// fetchGitAll is fetchGit, but also fetches the submodules if the request sets Submodules.
func (f *Fetcher) fetchGitAll(ctx context.Context, req Request) (*Package, error) {
	if !req.Submodules {
		return f.fetchGit(ctx, req)
	}
	left := maxSubmodules
	return f.fetchWithSubmodules(ctx, req, submodules{left: &left})
}

// fetchWithSubmodules fetches a package and adds its submodules to its tree. Each submodule is
// a separate package, under the rules for addresses in packages. Git is not told about the
// submodules, and takes no part in this.
func (f *Fetcher) fetchWithSubmodules(ctx context.Context, req Request, s submodules) (*Package, error) {
	pkg, links, err := f.fetchGitCommit(ctx, req)
	if err != nil || len(links) == 0 {
		return pkg, err
	}
	if s.depth == maxSubmoduleDepth {
		return nil, fmt.Errorf("%w %q: they are nested deeper than %d", ErrSubmodule, links[0].Path, maxSubmoduleDepth)
	}
	urls, err := readGitmodules(req.Dir)
	if err != nil {
		return nil, err
	}
	for _, link := range links {
		if *s.left--; *s.left < 0 {
			return nil, fmt.Errorf("%w: the package has more than %d submodules", ErrTooLarge, maxSubmodules)
		}
		sub, err := f.fetchSubmodule(ctx, req, link, urls[link.Path], submodules{left: s.left, depth: s.depth + 1})
		if err != nil {
			return nil, fmt.Errorf("%w %q: %w", ErrSubmodule, link.Path, err)
		}
		pkg.Bytes += sub.Bytes
		pkg.FetchWarnings = append(pkg.FetchWarnings, sub.FetchWarnings...)
		for _, left := range sub.LeftOut {
			left.Path = path.Join(link.Path, left.Path)
			pkg.LeftOut = append(pkg.LeftOut, left)
		}
		for _, warning := range sub.Warnings {
			pkg.Warnings = append(pkg.Warnings, fmt.Sprintf("submodule %q: %s", link.Path, warning))
		}
	}
	pkg.Gitlinks = nil
	sortLinks(pkg.LeftOut)
	return pkg, nil
}

// fetchSubmodule fetches the submodule at a link, and moves it to the path of the link.
func (f *Fetcher) fetchSubmodule(ctx context.Context, parent Request, link git.Entry, url string, s submodules) (*Package, error) {
	if url == "" {
		return nil, errors.New(".gitmodules has no URL for it")
	}
	at, err := submoduleAddress(parent.Package, url)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(parent.Dir), ".submodule-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // leftovers are in the stage, which is removed later
	req := Request{
		Package:     at,
		Revision:    link.ID,
		Dir:         filepath.Join(scratch, "tree"),
		FromServer:  parent.FromServer,
		Origin:      parent.Origin,
		FromPackage: parent.FromPackage || !isFile(parent.Package),
		Allow:       parent.Allow,
		Submodules:  true,
	}
	if err := checkNext(req); err != nil {
		return nil, err
	}
	pkg, err := f.fetchWithSubmodules(ctx, req, s)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("%s: %w", at.Redacted(), err))
	}
	return pkg, placeSubmodule(parent.Dir, link.Path, req.Dir)
}

// placeSubmodule moves a tree to its path in another tree. Both trees were written by this
// package, but the path has not been checked before.
func placeSubmodule(dir, name, from string) error {
	if err := treewriter.CheckName(name); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for above := path.Dir(name); above != "."; above = path.Dir(above) {
		if info, err := root.Lstat(above); err != nil || !info.IsDir() {
			return errors.Join(fmt.Errorf("%q is not a directory", above), err)
		}
	}
	if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("something else is at %q", name), err)
	}
	return os.Rename(from, filepath.Join(dir, filepath.FromSlash(name)))
}

// isFile reports whether a package is a repository on this machine.
func isFile(pkg addrs.ModulePackage) bool {
	u, err := pkg.URL()
	return err == nil && u.Scheme == "file"
}
