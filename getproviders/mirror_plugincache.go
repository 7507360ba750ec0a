package getproviders

import (
	"context"
	"errors"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/providerzip"
	"github.com/cotterpin/cotter/versions"
)

// PluginCache reads the plugin cache directory of stock tools (plugin_cache_dir,
// TF_PLUGIN_CACHE_DIR). It has the layout of a [FilesystemMirror] with unpacked packages.
// PluginCache never writes to it.
//
// Nothing confirms the content of the directory. A package counts only if the lock has its hash.
// So the cache is not a Source: it has no versions that could be selected.
type PluginCache struct {
	// Dir is the directory. It need not exist.
	Dir string
}

// Package returns the unpacked package of a version for a platform if the lock has its h1 hash.
// The package can change after it was hashed. A directory with more than 10,000 entries, with a
// file above 2 GiB, or with more than 4 GiB is not used. The error is a *[MirrorError]. If there
// is something else in the package's place, it wraps [ErrNotFound], because stock tools leave
// partial packages behind when they are interrupted.
func (c PluginCache) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform, locked []hashing.Hash) (Package, error) {
	about := MirrorError{Provider: provider, Version: version, Platform: platform, Location: c.Dir}
	found, err := FilesystemMirror{Dir: c.Dir}.packages(ctx, provider)
	switch {
	case ctx.Err() != nil:
		return nil, about.with(ctx.Err())
	case err != nil:
		return nil, about.with(errors.Join(ErrNotFound, err))
	}
	for _, p := range found {
		if !p.unpacked || p.version != version || p.platform != platform {
			continue
		}
		if h, err := providerzip.HashDir(ctx, p.path); err == nil && slices.Contains(locked, h) {
			return p, nil
		}
		if ctx.Err() != nil {
			return nil, about.with(ctx.Err())
		}
	}
	return nil, about.with(ErrNotFound)
}
