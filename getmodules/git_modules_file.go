package getmodules

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git/gitdir"
)

// maxGitmodules bounds the size of a .gitmodules file, in bytes.
const maxGitmodules = 1 << 20

// readGitmodules returns the URLs of the submodules in a tree, by path. The file has the format
// of gitmodules(5). Other settings, such as update commands, are ignored. The result is nil if
// the tree has no .gitmodules file.
func readGitmodules(dir string) (map[string]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(".gitmodules")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxGitmodules {
		return nil, fmt.Errorf("%w: .gitmodules is not a regular file, or is larger than %d bytes", ErrSubmodule, maxGitmodules)
	}
	f, err := root.Open(".gitmodules")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxGitmodules))
	if err != nil {
		return nil, err
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

// submoduleAddress returns the address of a submodule from its URL, which may be relative to
// the URL of the repository that contains it.
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

// relativeURL resolves a relative URL as git does: the last element of the repository's path
// counts as a directory.
func relativeURL(parent addrs.ModulePackage, raw string) (string, error) {
	u, err := parent.URL()
	if err != nil {
		return "", err
	}
	// The ref in the query is only for the parent. The key is for the host.
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
