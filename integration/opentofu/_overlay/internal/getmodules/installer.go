package getmodules

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gcs"
	"github.com/cotterpin/cotter/getmodules/hg"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/getmodules/xz"
	"github.com/opentofu/opentofu/internal/httpclient"
)

// PackageFetcher fetches with Cotter, except from OCI registries: OpenTofu's own store of
// repositories cannot be put in the place of Cotter's yet.
type PackageFetcher struct {
	fetcher getmodules.Fetcher
	oci     *reusingGetter
}

// NewPackageFetcher returns a fetcher. env finds OCI repositories; it may be nil.
func NewPackageFetcher(ctx context.Context, env PackageFetcherEnvironment) *PackageFetcher {
	if env == nil {
		env = noEnvironment{}
	}
	getters := maps.Clone(goGetterGetters)
	getters["oci"] = &ociDistributionGetter{getOCIRepositoryStore: env.OCIRepositoryStore}
	client := httpclient.New(ctx)
	return &PackageFetcher{
		fetcher: getmodules.Fetcher{
			HTTPClient: client,
			Getters:    map[string]getmodules.Getter{"s3": &s3.Getter{HTTPClient: client}, "gcs": &gcs.Getter{HTTPClient: client}, "hg": hg.Getter{}},
			XZ:         xz.NewReader,
		},
		oci: newReusingGetter(getters),
	}
}

// FetchPackage fetches a package into a directory, which is created.
func (f *PackageFetcher) FetchPackage(ctx context.Context, instDir string, packageAddr string) error {
	pkg := addrs.ParseModulePackage(packageAddr)
	if pkg.Getter() == "oci" {
		return f.oci.getWithGoGetter(ctx, instDir, packageAddr)
	}
	if err := os.MkdirAll(filepath.Dir(instDir), 0o755); err != nil {
		return err
	}
	_, err := f.fetcher.Fetch(ctx, getmodules.Request{Package: pkg, Dir: instDir, Submodules: true})
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
