package getmodules

import (
	"context"

	"github.com/cotterpin/cotter/addrs"
)

// FetchGit is fetchGit without the choice of the transport around it.
func (f *Fetcher) FetchGit(ctx context.Context, req Request) (*Package, error) {
	return f.fetchGit(ctx, req)
}

// ParseGitTree returns the paths of a tree object's entries.
func ParseGitTree(dir string, body []byte, idLen int) ([]string, error) {
	entries, err := parseGitTree(dir, body, idLen)
	var paths []string
	for _, e := range entries {
		paths = append(paths, e.path)
	}
	return paths, err
}

// ParseFetchHead is parseFetchHead.
func ParseFetchHead(line string) (id, ref string, ok bool) { return parseFetchHead(line) }

// GitRemote returns what git would be given as the remote, the ref, and the
// resolved address for a commit.
func GitRemote(req Request, commit string) (remote, ref, resolved string, err error) {
	a, err := parseGitAddress(req)
	if err != nil {
		return "", "", "", err
	}
	return a.remote.String(), a.ref, a.resolved(commit).String(), nil
}

// ParseTags is parseTags.
var ParseTags = parseTags

// ParseGitAnswer is parseGitAnswer.
var ParseGitAnswer = parseGitAnswer

// ArchiveAddress returns what a server would be asked for, and the address to
// keep.
func ArchiveAddress(pkg addrs.ModulePackage) (asked, resolved string, err error) {
	a, err := new(Fetcher).parseArchiveAddress(pkg)
	if err != nil {
		return "", "", err
	}
	return a.url.String(), a.resolved().String(), nil
}

// ParseGitmodules is parseGitmodules.
var ParseGitmodules = parseGitmodules

// SubmoduleAddress is submoduleAddress.
var SubmoduleAddress = submoduleAddress
