package registry

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/opentofu/opentofu/internal/addrs"
	"github.com/opentofu/opentofu/internal/httpclient"
	"github.com/opentofu/opentofu/internal/registry/response"
	regaddr "github.com/opentofu/registry-address/v2"
	"github.com/opentofu/svchost/disco"

	cotter "github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/xz"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Client sends requests to registries of modules with Cotter. Services and credentials are found
// by OpenTofu.
type Client struct {
	client   *retryablehttp.Client
	services *disco.Disco
}

// NewClient returns a client. services and client may be nil.
func NewClient(ctx context.Context, services *disco.Disco, client *retryablehttp.Client) *Client {
	if services == nil {
		services = disco.New()
	}
	if client == nil {
		client = httpclient.NewForRegistryRequests(ctx, 1, 10*time.Second)
	}
	return &Client{client: client, services: services}
}

// ModulePackageVersions lists the versions of a package.
func (c *Client) ModulePackageVersions(ctx context.Context, pkg regaddr.ModulePackage) (*response.ModuleVersions, error) {
	offered, err := c.Cotter().ModuleVersions(ctx, addrs.CotterPackage(pkg))
	switch {
	case errors.Is(err, registryclient.ErrNotFound):
		return nil, &errModuleNotFound{packageAddr: pkg}
	case err != nil:
		return nil, err
	}
	found := &response.ModuleProviderVersions{Source: pkg.ForRegistryProtocol()}
	for _, candidate := range offered {
		found.Versions = append(found.Versions, &response.ModuleVersion{Version: candidate.Ref})
	}
	return &response.ModuleVersions{Modules: []*response.ModuleProviderVersions{found}}, nil
}

// ModulePackageLocation returns where a version of a package is, and below it the directory of the
// module that subdir names.
func (c *Client) ModulePackageLocation(ctx context.Context, pkg regaddr.ModulePackage, version string, subdir string) (PackageLocation, error) {
	selected, err := versions.Parse(version)
	if err != nil {
		return nil, err
	}
	found, err := c.Cotter().PackageLocation(ctx, addrs.CotterPackage(pkg), selected)
	if err != nil {
		return nil, err
	}
	if found.Direct {
		at, err := url.Parse(found.Source.Package.String())
		return PackageLocationDirect{packageAddr: pkg, subdir: subdir, packageURL: at, useRegistryCredentials: found.UseCredentials}, err
	}
	subdir, err = cotter.JoinSubdir(found.Source.Subdir, subdir)
	return PackageLocationIndirect{SourceAddr: addrs.ModuleSourceRemote{
		Package: addrs.ModulePackage(found.Source.Package.String()),
		Subdir:  subdir,
	}}, err
}

// InstallModulePackage downloads a package that the registry hosts, and returns the module's
// directory in it.
func (c *Client) InstallModulePackage(ctx context.Context, location PackageLocationDirect, targetDir string) (string, error) {
	file, err := os.CreateTemp("", "opentofu-modpkg-")
	if err != nil {
		return "", err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	client := c.Cotter()
	if location.useRegistryCredentials {
		// OpenTofu sends the registry's credentials to each URL that the registry names for its own
		// packages. Cotter sends them to the origin of the service only, which is this one then.
		client.Services = hostedServices{services{c.services}, location.packageURL}
	}
	err = client.Download(ctx, addrs.CotterPackage(location.packageAddr), registryclient.Location{
		Source:         cotter.ModuleSourceRemote{Package: cotter.ParseModulePackage(location.packageURL.String())},
		Origin:         location.packageURL.String(), // ModulePackageLocation has checked what the registry points to
		Direct:         true,
		UseCredentials: location.useRegistryCredentials,
	}, file)
	if err != nil {
		return "", err
	}
	// Cotter extracts into a new directory.
	if err := os.Remove(targetDir); err != nil && !os.IsNotExist(err) {
		return "", err
	}
	fetcher := getmodules.Fetcher{XZ: xz.NewReader}
	if _, err := fetcher.ExtractArchive(ctx, file, "", targetDir); err != nil {
		return "", err
	}
	return filepath.Join(targetDir, filepath.FromSlash(location.subdir)), nil
}

// hostedServices says that the service of a registry has the origin of a package.
type hostedServices struct {
	services
	origin *url.URL
}

func (s hostedServices) ServiceURL(context.Context, cotter.Hostname, string) (*url.URL, error) {
	return s.origin.Parse("/")
}
