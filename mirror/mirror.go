package mirror

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/artifact"
	"github.com/cotterpin/cotter/versions"
)

// Mirror is a repository of an OCI registry. It is a [cotter.ListedStore].
//
// Its fields must not change while it is in use.
type Mirror struct {
	// Trust determines which entries the mirror can confirm. [Open] sets Trust.Named.
	Trust Trust
	// SignKey signs the entries that are pushed. If it is nil, they are not signed.
	SignKey ed25519.PrivateKey

	fetcher          *getmodules.Fetcher
	content          *getmodules.OCIContent
	host, repository string
	address          string
}

var _ cotter.ListedStore = (*Mirror)(nil)

// Open opens a mirror at oci://HOST/REPOSITORY without sending a request. It uses the fetcher's
// credentials, limits and retries for OCI registries.
//
// The mirror can confirm entries of locks, like a mirror that the user has named. For other
// mirrors, set Trust.
func Open(fetcher *getmodules.Fetcher, address string) (*Mirror, error) {
	host, repository, ok := strings.Cut(strings.TrimPrefix(address, "oci://"), "/")
	if !strings.HasPrefix(address, "oci://") || !ok {
		return nil, fmt.Errorf("the address of a mirror must have the form oci://HOST/REPOSITORY, not %q", addrs.Redact(address))
	}
	content, err := fetcher.OCIContent(host, repository)
	if err != nil {
		return nil, err
	}
	return &Mirror{Trust: Trust{Named: true}, fetcher: fetcher, content: content, host: host, repository: repository, address: address}, nil
}

// Name returns "the mirror" and the address.
func (m *Mirror) Name() string { return "the mirror " + m.address }

// Address returns the address oci://HOST/REPOSITORY.
func (m *Mirror) Address() string { return m.address }

// IsLocal returns false.
func (m *Mirror) IsLocal() bool { return false }

// Manifest implements [cotter.PackageStore].
func (m *Mirror) Manifest(ctx context.Context, tag string) ([]byte, error) {
	found, err := m.content.Manifest(ctx, tag)
	return found.Text, err
}

// Blob implements [cotter.PackageStore].
func (m *Mirror) Blob(ctx context.Context, digest string, size int64, file *os.File) error {
	return m.content.Blob(ctx, getmodules.OCIBlob{Digest: digest, Size: size}, file, nil)
}

// Tags returns all tags of the repository. It returns none if nothing has been pushed yet.
func (m *Mirror) Tags(ctx context.Context) ([]string, error) {
	var found []string
	err := m.content.Tags(ctx, "", func(tags []string) error {
		found = append(found, tags...)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return found, err
}

// RepositoryTemplate returns the location of a mirror's providers in the form of the
// repository_template of an oci_mirror in OpenTofu's CLI configuration:
// HOST/REPOSITORY/providers/${hostname}/${namespace}/${type}.
func (m *Mirror) RepositoryTemplate() string {
	return m.host + "/" + m.repository + "/" + artifact.RepositoryTemplate
}

// providerContent opens the repository of a provider.
func (m *Mirror) providerContent(provider addrs.Provider) (*getmodules.OCIContent, error) {
	return m.fetcher.OCIContent(m.host, m.repository+"/"+artifact.RepositoryOf(provider))
}

// ProviderIndex implements [cotter.PackageStore].
func (m *Mirror) ProviderIndex(ctx context.Context, provider addrs.Provider, version versions.Version) ([]byte, error) {
	content, err := m.providerContent(provider)
	if err != nil {
		return nil, err
	}
	found, err := content.Manifest(ctx, artifact.Release{Provider: provider, Version: version}.VersionTag())
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
