package getmodules

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	ociv1 "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/opentofu/opentofu/internal/httpclient"
	"oras.land/oras-go/v2/errdef"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gcs"
	"github.com/cotterpin/cotter/getmodules/hg"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/getmodules/xz"
	"github.com/cotterpin/cotter/ocistore"
)

// PackageFetcher fetches with Cotter.
type PackageFetcher struct {
	fetcher *getmodules.Fetcher
}

// NewPackageFetcher returns a fetcher. env opens OCI repositories; it may be nil.
func NewPackageFetcher(ctx context.Context, env PackageFetcherEnvironment) *PackageFetcher {
	if env == nil {
		env = noEnvironment{}
	}
	client := httpclient.New(ctx)
	return &PackageFetcher{&getmodules.Fetcher{
		HTTPClient: client,
		OCI:        repositories{env},
		Getters:    map[string]getmodules.Getter{"s3": &s3.Getter{HTTPClient: client}, "gcs": &gcs.Getter{HTTPClient: client}, "hg": hg.Getter{}},
		XZ:         xz.NewReader,
	}}
}

// Cotter returns the fetcher for Cotter's installer.
func (f *PackageFetcher) Cotter() *getmodules.Fetcher { return f.fetcher }

// FetchPackage fetches a package into a directory, which is created.
func (f *PackageFetcher) FetchPackage(ctx context.Context, instDir string, packageAddr string) error {
	if err := os.MkdirAll(filepath.Dir(instDir), 0o755); err != nil {
		return err
	}
	_, err := f.fetcher.Fetch(ctx, getmodules.Request{Package: addrs.ParseModulePackage(packageAddr), Dir: instDir, Submodules: true})
	return err
}

// PackageFetcherEnvironment is what a fetcher needs from the rest of OpenTofu.
type PackageFetcherEnvironment interface {
	OCIRepositoryStore(ctx context.Context, registryDomainName, repositoryPath string) (OCIRepositoryStore, error)
}

type noEnvironment struct{}

func (noEnvironment) OCIRepositoryStore(context.Context, string, string) (OCIRepositoryStore, error) {
	return nil, errors.New("module installation from OCI repositories is not available in this context")
}

// repositories opens OCI repositories as OpenTofu does, with its configuration and credentials.
type repositories struct{ env PackageFetcherEnvironment }

func (r repositories) OpenOCI(ctx context.Context, host, name string) (ocistore.Repository, error) {
	store, err := r.env.OCIRepositoryStore(ctx, host, name)
	if err != nil {
		return nil, err
	}
	return repository{store}, nil
}

type repository struct{ OCIRepositoryStore }

func (r repository) Resolve(ctx context.Context, reference string) (ociv1.Descriptor, error) {
	found, err := r.OCIRepositoryStore.Resolve(ctx, reference)
	return found, markNotFound(err)
}

func (r repository) Fetch(ctx context.Context, target ociv1.Descriptor) (io.ReadCloser, error) {
	content, err := r.OCIRepositoryStore.Fetch(ctx, target)
	return content, markNotFound(err)
}

// Tags is called for version constraints. The repositories of OpenTofu's commands are those of oras-go, which
// list their tags. Those of its tests do not.
func (r repository) Tags(ctx context.Context, last string, page func([]string) error) error {
	lister, ok := r.OCIRepositoryStore.(interface {
		Tags(ctx context.Context, last string, page func([]string) error) error
	})
	if !ok {
		return errors.New("the tags of this repository cannot be listed")
	}
	return markNotFound(lister.Tags(ctx, last, page))
}

// markNotFound makes oras-go's error one that Cotter recognizes too.
func markNotFound(err error) error {
	if errors.Is(err, errdef.ErrNotFound) {
		return errors.Join(err, fs.ErrNotExist)
	}
	return err
}
