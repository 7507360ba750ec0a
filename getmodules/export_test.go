package getmodules

import (
	"context"

	"github.com/cotterpin/cotter/addrs"
)

// FetchGit exports fetchGit, which does not choose the transport first.
func (f *Fetcher) FetchGit(ctx context.Context, req Request) (*Package, error) {
	pkg, _, err := f.fetchGit(ctx, req)
	return pkg, err
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

// CheckLocation exports checkLocation for tests without a network.
var CheckLocation = checkLocation

// MetaLocation exports metaLocation.
var MetaLocation = metaLocation

// ChecksumInFile exports checksumInFile, but returns only the checksum.
func ChecksumInFile(text, name string) ([]byte, error) {
	found, err := checksumInFile(text, name)
	return found.sum, err
}

// IsForgeArchive exports isForgeArchive.
var IsForgeArchive = isForgeArchive

// OCIReference returns the host, the repository and the reference of an oci address.
func OCIReference(address string) (host, repository, reference string, err error) {
	a, err := parseOCIAddress(addrs.ParseModulePackage(address))
	if err != nil {
		return "", "", "", err
	}
	return a.host, a.repository, a.reference(), nil
}

// CheckOCIManifest checks a manifest and returns the digest of its layer.
func CheckOCIManifest(mediaType string, text []byte, limit int64) (string, error) {
	layer, err := moduleLayer(mediaType, text, Limits{DownloadBytes: limit})
	return layer.Digest, err
}

// SameSite exports sameSite.
var SameSite = sameSite
