package initwd

import (
	"context"
	"sync"

	stockaddrs "github.com/opentofu/opentofu/internal/addrs"
	"github.com/opentofu/opentofu/internal/registry/response"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// recorder fills the maps of a ModuleInstaller with the answers of registries.
type recorder struct {
	registryclient.ModuleRegistry
	installer *ModuleInstaller
	mu        *sync.Mutex
}

func (r recorder) ModuleVersions(ctx context.Context, pkg addrs.ModuleRegistryPackage) ([]versions.Candidate, error) {
	found, err := r.ModuleRegistry.ModuleVersions(ctx, pkg)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.installer.registryPackageVersions[stockaddrs.StockPackage(pkg)] = &response.ModuleVersions{}
	}
	return found, err
}

func (r recorder) PackageLocation(ctx context.Context, pkg addrs.ModuleRegistryPackage, v versions.Version) (registryclient.Location, error) {
	found, err := r.ModuleRegistry.PackageLocation(ctx, pkg, v)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.installer.registryPackageSources[moduleVersion{module: stockaddrs.StockPackage(pkg), version: v.String()}] = nil
	}
	return found, err
}
