package getmodules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

const (
	// maxSubmodules limits the submodules of a package, with nested ones. Each is a separate fetch.
	maxSubmodules     = 200
	maxSubmoduleDepth = 10
)

// ErrSubmodule means that a submodule cannot be fetched as its repository specifies it.
var ErrSubmodule = errors.New("git submodule")

// submodules says how many more a package may have, and how deeply the next are nested.
type submodules struct {
	left  *int
	depth int
}

func (f *Fetcher) fetchGitAll(ctx context.Context, req Request) (*Package, error) {
	left := maxSubmodules
	return f.fetchWithSubmodules(ctx, req, submodules{left: &left})
}

// fetchWithSubmodules adds submodules to a tree, if the request asks for them. Each is a separate package, under
// the rules for addresses in packages. Git takes no part in this.
func (f *Fetcher) fetchWithSubmodules(ctx context.Context, req Request, s submodules) (*Package, error) {
	pkg, links, err := f.fetchGit(ctx, req)
	if err != nil || len(links) == 0 || !req.Submodules {
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
	pkg.Gitlinks, pkg.Tree = nil, nil
	sortLinks(pkg.LeftOut)
	return pkg, nil
}

func (f *Fetcher) fetchSubmodule(ctx context.Context, parent Request, link git.Entry, url string, s submodules) (*Package, error) {
	if url == "" {
		return nil, errors.New(".gitmodules has no URL for it")
	}
	at, err := submoduleAddress(parent.Package, url)
	if err != nil {
		return nil, err
	}
	from, err := parent.Package.Location()
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
		Origin:      hostname.Origin(from.URL()),
		FromPackage: parent.FromPackage || !isFile(parent.Package),
		Allow:       parent.Allow,
		Submodules:  true,
	}
	err = checkNext(ctx, req)
	if err == nil && req.FromPackage {
		err = checkSubmodule(from.URL(), at)
	}
	if err != nil {
		return nil, err
	}
	ctx = limited(ctx, req)
	pkg, err := f.fetchWithSubmodules(ctx, req, s)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("%s: %w", at.Redacted(), err))
	}
	return pkg, placeSubmodule(parent.Dir, link.Path, req.Dir)
}

// checkSubmodule allows the transports that a server may name, and that of the repository for its own host.
func checkSubmodule(from *url.URL, submodule addrs.ModulePackage) error {
	at, err := submodule.Location()
	if err != nil {
		return err
	}
	to := at.URL()
	isLocal := hostname.IsLoopback(from) && hostname.IsLoopback(to)
	switch {
	case to.Scheme == "https", to.Scheme == "ssh", to.Scheme == "http" && isLocal, httpx.SameOrigin(from, to):
		return nil
	}
	return fmt.Errorf("%w: the repository at %q points to %q in .gitmodules; submodules on other hosts need https or ssh",
		ErrRefusedLocation, hostname.Origin(from), hostname.Origin(to))
}

// placeSubmodule moves a tree to its path in another one. This package wrote both, but the path has not
// been checked.
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
	at, err := pkg.Location()
	return err == nil && at.URL().Scheme == "file"
}

const maxGitmodules = 1 << 20

// readGitmodules returns the URLs of submodules by path, from the file of gitmodules(5), or nil without
// one. Other settings, such as update commands, are ignored.
func readGitmodules(dir string) (map[string]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := atomicfile.Read(root, ".gitmodules", maxGitmodules)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSubmodule, err)
	}
	return parseGitmodules(text)
}

func parseGitmodules(text []byte) (map[string]string, error) {
	settings, err := gitdir.ParseConfig(string(text))
	if err != nil {
		return nil, fmt.Errorf("%w: .gitmodules: %w", ErrSubmodule, err)
	}
	paths, byName := map[string]string{}, map[string]string{}
	for _, s := range settings {
		switch {
		case s.Section == "submodule" && s.Name == "path":
			paths[s.Subsection] = s.Value // git uses the last of several values
		case s.Section == "submodule" && s.Name == "url":
			byName[s.Subsection] = s.Value
		}
	}
	urls := map[string]string{}
	for name, at := range paths {
		if _, twice := urls[at]; twice {
			return nil, fmt.Errorf("%w: .gitmodules has two submodules at %q", ErrSubmodule, at)
		}
		urls[at] = byName[name]
	}
	return urls, nil
}

// submoduleAddress parses a URL, which may be relative to that of the parent.
func submoduleAddress(parent addrs.ModulePackage, raw string) (addrs.ModulePackage, error) {
	address := "git::" + raw
	if strings.ContainsAny(raw, "?#\r\n") {
		return addrs.ModulePackage{}, fmt.Errorf("%q in .gitmodules is not the URL of a repository", addrs.Redact(raw))
	}
	if strings.HasPrefix(raw, "./") || strings.HasPrefix(raw, "../") {
		relative, err := relativeURL(parent, raw)
		if err != nil {
			return addrs.ModulePackage{}, err
		}
		address = relative
	}
	source, err := addrs.ParseModuleSource(address)
	if err != nil {
		return addrs.ModulePackage{}, fmt.Errorf("%q in .gitmodules is not the URL of a repository: %w", addrs.Redact(raw), err)
	}
	remote, ok := source.(addrs.ModuleSourceRemote)
	if !ok || remote.Subdir != "" || remote.Package.Getter() != "git" {
		return addrs.ModulePackage{}, fmt.Errorf("%q in .gitmodules is not the URL of a repository", addrs.Redact(raw))
	}
	return remote.Package, nil
}

// relativeURL resolves as git does: the last element of the repository's path counts as a directory.
func relativeURL(parent addrs.ModulePackage, raw string) (string, error) {
	at, err := parent.Location()
	if err != nil {
		return "", err
	}
	u := at.URL()
	// The ref is only for the parent. The key is for the host.
	key := u.Query().Get("sshkey")
	u.RawQuery, u.RawPath = "", ""
	dir := strings.TrimSuffix(u.Path, "/")
	for rest := raw; ; {
		if after, ok := strings.CutPrefix(rest, "./"); ok {
			rest = after
			continue
		}
		after, ok := strings.CutPrefix(rest, "../")
		if !ok {
			u.Path = path.Join(dir, rest)
			break
		}
		if dir == "" || dir == "/" {
			return "", fmt.Errorf("%q in .gitmodules is above the root of the host", raw)
		}
		rest, dir = after, path.Dir(dir)
	}
	if key != "" {
		u.RawQuery = url.Values{"sshkey": {key}}.Encode()
	}
	return "git::" + u.String(), nil
}
