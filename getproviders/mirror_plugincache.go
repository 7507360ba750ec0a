package getproviders

import (
	"context"
	"errors"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/versions"
)

// PluginCache reads the plugin cache directory of stock tools (plugin_cache_dir,
// TF_PLUGIN_CACHE_DIR), which has the layout of a [FilesystemMirror] with unpacked
// packages. It writes nothing there.
//
// Nobody vouches for what is in the directory. A package counts only if the lock has its
// hash, so the cache is no Source: it knows of no versions that could be selected.
type PluginCache struct {
	// Dir is the directory. It need not exist.
	Dir string
}

// Package returns the unpacked package of a version for a platform if its h1 hash is
// one of the lock's. Anything else in its place is an error over [ErrNotFound]: stock
// tools leave partial packages behind when they are interrupted. The error is a
// *[MirrorError], and the package can change after it was hashed.
func (c PluginCache) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform, locked []hashing.Hash) (Package, error) {
	about := MirrorError{Provider: provider, Version: version, Platform: platform, Location: c.Dir}
	found, err := FilesystemMirror(c).packages(ctx, provider)
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
		if h, err := hashing.Dir(p.path); err == nil && slices.Contains(locked, h) {
			return p, nil
		}
	}
	return nil, about.with(ErrNotFound)
}
