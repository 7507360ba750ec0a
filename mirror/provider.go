package mirror

import (
	"context"
	"fmt"
	"os"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/versions"
)

// RepositoryTemplate returns the location of a mirror's providers in the form of the
// repository_template of an oci_mirror in OpenTofu's CLI configuration:
// HOST/REPOSITORY/providers/${hostname}/${namespace}/${type}.
func (m *Mirror) RepositoryTemplate() string {
	return m.host + "/" + m.repository + "/providers/${hostname}/${namespace}/${type}"
}

// providerContent opens the repository of a provider.
func (m *Mirror) providerContent(provider addrs.Provider) (*getmodules.OCIContent, error) {
	return m.fetcher.OCIContent(m.host, m.repository+"/"+modpkg.RepositoryOf(provider))
}

// ProviderIndex implements [cotter.PackageStore].
func (m *Mirror) ProviderIndex(ctx context.Context, provider addrs.Provider, version versions.Version) ([]byte, error) {
	content, err := m.providerContent(provider)
	if err != nil {
		return nil, err
	}
	found, err := content.Manifest(ctx, modpkg.Release{Provider: provider, Version: version}.VersionTag())
	return found.Text, err
}

// ProviderManifest implements [cotter.PackageStore].
func (m *Mirror) ProviderManifest(ctx context.Context, provider addrs.Provider, digest string, size int64) ([]byte, error) {
	content, err := m.providerContent(provider)
	if err != nil {
		return nil, err
	}
	found, err := content.Manifest(ctx, digest)
	if err == nil && int64(len(found.Text)) != size {
		err = fmt.Errorf("%w: the manifest has %d bytes instead of %d", getmodules.ErrOCIContent, len(found.Text), size)
	}
	return found.Text, err
}

// ProviderBlob implements [cotter.PackageStore].
func (m *Mirror) ProviderBlob(ctx context.Context, provider addrs.Provider, digest string, size int64, file *os.File, progress func(done, total int64)) error {
	content, err := m.providerContent(provider)
	if err != nil {
		return err
	}
	return content.Blob(ctx, getmodules.OCIBlob{Digest: digest, Size: size}, file, progress)
}
