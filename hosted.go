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

// fetchHosted downloads a package that a registry hosts and unpacks it into
// dir, which does not exist yet.
func (r *run) fetchHosted(ctx context.Context, n *node, at *registryclient.Location, dir string) (*getmodules.Package, error) {
	source, isRegistry := n.source.(addrs.ModuleSourceRegistry)
	if !isRegistry {
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
	if err := r.registry.Download(ctx, source.Package, *at, archive); err != nil {
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
