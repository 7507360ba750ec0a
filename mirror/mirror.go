package mirror

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/ocistore"
)

// Mirror is a repository of an OCI registry, as an [ocistore.Store]. Its fields must not change while it is
// in use.
type Mirror struct {
	// Trusted reports whether the mirror confirms entries; see [ocistore.Info]. [Open] sets it.
	Trusted bool

	fetcher          *getmodules.Fetcher
	writer           *getmodules.OCIWriter
	host, repository string

	mu sync.Mutex
	// opened are the repositories by provider, which remember the registry's tokens.
	opened map[addrs.Provider]ocistore.Repository
}

var _ ocistore.Store = (*Mirror)(nil)

// Open opens a mirror at oci://HOST/REPOSITORY without a request, with the fetcher's credentials, limits
// and retries, or the repositories of its field OCI, which can only be read. The mirror confirms entries,
// as one that the user has named; for others, clear Trusted.
func Open(fetcher *getmodules.Fetcher, address string) (*Mirror, error) {
	host, repository, ok := strings.Cut(strings.TrimPrefix(address, "oci://"), "/")
	if !strings.HasPrefix(address, "oci://") || !ok {
		return nil, fmt.Errorf("the address of a mirror must have the form oci://HOST/REPOSITORY, not %q", addrs.Redact(address))
	}
	if fetcher == nil {
		return nil, errors.New("a mirror cannot be opened without a fetcher")
	}
	writer, err := fetcher.OCIWriter(host, repository)
	if err != nil {
		return nil, err
	}
	return &Mirror{Trusted: true, fetcher: fetcher, writer: writer, host: host, repository: repository}, nil
}

// Address returns oci://HOST/REPOSITORY.
func (m *Mirror) Address() string {
	m.mustExist("Address")
	return "oci://" + m.host + "/" + m.repository
}

// Info implements [ocistore.Store].
func (m *Mirror) Info() ocistore.Info {
	m.mustExist("Info")
	return ocistore.Info{Name: "the mirror " + m.Address(), Trusted: m.Trusted}
}

// Repository implements [ocistore.Store].
func (m *Mirror) Repository(ctx context.Context, provider addrs.Provider) (ocistore.Repository, error) {
	if err := m.checkOpen(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.opened[provider]; ok {
		return found, nil
	}
	found, err := m.fetcher.OpenOCI(ctx, m.host, m.pathOf(provider))
	if err != nil {
		return nil, err
	}
	if m.opened == nil {
		m.opened = make(map[addrs.Provider]ocistore.Repository)
	}
	m.opened[provider] = found
	return found, nil
}

// Verify fetches and hashes all packages of the mirror, and compares them with their entries. It keeps nothing. The
// result is sorted by source and version, providers last; the error is about the mirror as a whole.
func (m *Mirror) Verify(ctx context.Context, in *installer.Installer) ([]ocistore.Entry, error) {
	return installerinternal.VerifyStore(ctx, in, m)
}

func (m *Mirror) checkOpen() error {
	if m == nil || m.fetcher == nil {
		return errors.New("the mirror is not open")
	}
	return nil
}

// mustExist is for methods that return no error.
func (m *Mirror) mustExist(method string) {
	if m == nil {
		panic("mirror: " + method + " of a nil *Mirror; Open makes one")
	}
}

// pathOf returns the mirror's own repository for the zero Provider.
func (m *Mirror) pathOf(provider addrs.Provider) string {
	if provider == (addrs.Provider{}) {
		return m.repository
	}
	return m.repository + "/" + artifact.RepositoryOf(provider)
}

// RepositoryTemplate returns the repository_template of an oci_mirror in OpenTofu's CLI configuration:
// HOST/REPOSITORY/providers/${hostname}/${namespace}/${type}.
func (m *Mirror) RepositoryTemplate() string {
	m.mustExist("RepositoryTemplate")
	return m.host + "/" + m.repository + "/" + artifact.RepositoryTemplate
}

func (m *Mirror) providerWriter(provider addrs.Provider) (*getmodules.OCIWriter, error) {
	if err := m.checkOpen(); err != nil {
		return nil, err
	}
	return m.fetcher.OCIWriter(m.host, m.pathOf(provider))
}
