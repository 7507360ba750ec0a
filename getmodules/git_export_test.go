package getmodules

import (
	"context"

	"github.com/cotterpin/cotter/addrs"
)

// FetchGit exports fetchGit, which does not choose the transport first.
func (f *Fetcher) FetchGit(ctx context.Context, req Request) (*Package, error) {
	return f.fetchGit(ctx, req)
}

// GitRemote returns the remote and the ref that git would be given, and the resolved
// address for a commit.
func GitRemote(req Request, commit string) (remote, ref, resolved string, err error) {
	a, err := parseGitAddress(req)
	if err != nil {
		return "", "", "", err
	}
	return a.remote.String(), a.ref, a.resolved(commit).String(), nil
}

// ArchiveAddress returns the URL that would be requested, and the resolved address.
func ArchiveAddress(pkg addrs.ModulePackage) (asked, resolved string, err error) {
	a, err := new(Fetcher).parseArchiveAddress(pkg)
	if err != nil {
		return "", "", err
	}
	return a.url.String(), a.resolved().String(), nil
}

// ParseGitmodules exports parseGitmodules.
var ParseGitmodules = parseGitmodules

// SubmoduleAddress exports submoduleAddress.
var SubmoduleAddress = submoduleAddress
