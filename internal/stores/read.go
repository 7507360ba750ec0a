package stores

import (
	"context"
	"errors"
	"io/fs"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/artifact"
	"github.com/cotterpin/cotter/internal/oci"
	"github.com/cotterpin/cotter/ocistore"
)

// Manifest returns the manifest that a tag of a store's own repository points to. The error wraps
// fs.ErrNotExist if the tag does not exist.
func Manifest(ctx context.Context, store ocistore.Store, tag string) ([]byte, error) {
	repository, err := store.Repository(ctx, addrs.Provider{})
	if err != nil {
		return nil, err
	}
	found, err := oci.Read(ctx, repository, tag)
	return found.Text, err
}

// Tags returns the tags of a store's own repository. There are none if nothing was stored yet.
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

// Targets returns the packages that a store has of a release. The error wraps fs.ErrNotExist if it
// has none.
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

// TargetManifest returns the manifest of a target.
func TargetManifest(ctx context.Context, store ocistore.Store, provider addrs.Provider, target oci.Target) ([]byte, error) {
	repository, err := store.Repository(ctx, provider)
	if err != nil {
		return nil, err
	}
	found, err := oci.ReadManifest(ctx, repository, target.Descriptor)
	return found.Text, err
}
