package cotter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/registryclient"
)

// packageHost is a Registry that hosts packages itself, which some do behind
// the same credentials as their API. *registryclient.Client is one.
type packageHost interface {
	Download(ctx context.Context, pkg addrs.ModuleRegistryPackage, at registryclient.Location, w io.Writer) error
}

var _ packageHost = (*registryclient.Client)(nil)

// fetchHosted downloads a package that a registry hosts and unpacks it into
// dir, which does not exist yet.
func (r *run) fetchHosted(ctx context.Context, n *node, at *registryclient.Location, dir string) (*getmodules.Package, error) {
	source, isRegistry := n.source.(addrs.ModuleSourceRegistry)
	host, hosts := r.registry.(packageHost)
	if !isRegistry || !hosts {
		return nil, errors.New("the registry hosts this package itself, which cannot be downloaded here")
	}
	archive, err := os.Create(dir + ".archive")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = archive.Close()
		_ = os.Remove(archive.Name()) // what is left is swept away some day
	}()
	if err := host.Download(ctx, source.Package, *at, archive); err != nil {
		return nil, err
	}
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	pkg, err := getmodules.ExtractArchive(ctx, archive, "", dir, getmodules.Limits{})
	if err != nil {
		return nil, fmt.Errorf("the archive that registry %s hosts: %w", source.Package.Host.ForDisplay(), err)
	}
	pkg.Resolved = at.Source.Package.WithoutCredentials()
	return pkg, nil
}
