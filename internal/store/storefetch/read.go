package storefetch

import (
	"context"
	"errors"
	"io/fs"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/ocistore"
)

// Manifest returns what a tag of a store's own repository points to. Without it, the error wraps
// fs.ErrNotExist.
func Manifest(ctx context.Context, store ocistore.Store, tag string) ([]byte, error) {
	repository, err := store.Repository(ctx, addrs.Provider{})
	if err != nil {
		return nil, err
	}
	found, err := oci.Read(ctx, repository, tag)
	return found.Text, err
}

// Tags are those of a store's own repository; none if nothing was stored yet.
func Tags(ctx context.Context, store ocistore.Store) ([]string, error) {
	repository, err := store.Repository(ctx, addrs.Provider{})
	if err != nil {
		return nil, err
	}
	var found []string
	err = repository.Tags(ctx, "", func(tags []string) error {
		found = append(found, tags...)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return found, err
}

// Targets are a store's packages of a release. If there are none, the error wraps fs.ErrNotExist.
func Targets(ctx context.Context, store ocistore.Store, r artifact.Release) (artifact.Targets, error) {
	repository, err := store.Repository(ctx, r.Provider)
	if err != nil {
		return nil, err
	}
	index, err := oci.Read(ctx, repository, r.VersionTag())
	if err != nil {
		return nil, err
	}
	return artifact.ParseIndex(index.Text)
}

func TargetManifest(ctx context.Context, store ocistore.Store, provider addrs.Provider, target oci.Target) ([]byte, error) {
	repository, err := store.Repository(ctx, provider)
	if err != nil {
		return nil, err
	}
	found, err := oci.ReadManifest(ctx, repository, target.Descriptor)
	return found.Text, err
}
