package getmodules

import (
	"context"

	"github.com/cotterpin/cotter/addrs"
)

// FetchGit is fetchGit without the choice of the transport around it.
func (f *Fetcher) FetchGit(ctx context.Context, req Request) (*Package, error) {
	return f.fetchGit(ctx, req)
}

// GitRemote returns what git would be given as the remote, the ref, and the
// resolved address for a commit.
func GitRemote(req Request, commit string) (remote, ref, resolved string, err error) {
	a, err := parseGitAddress(req)
	if err != nil {
		return "", "", "", err
	}
	return a.remote.String(), a.ref, a.resolved(commit).String(), nil
}

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
