package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/internal/artifact"
	"github.com/cotterpin/cotter/internal/oci"
	"github.com/cotterpin/cotter/versions"
)

// Bundle is an open bundle. It is a [cotter.ListedStore] and must be closed.
type Bundle struct {
	file   *os.File
	layout *oci.Layout
}

var _ cotter.ListedStore = (*Bundle)(nil)

// ErrBundle means that a file is not a bundle or is damaged.
var ErrBundle = oci.ErrLayout

// Open opens a bundle. It reads the index, but no packages. Errors about its content wrap
// [ErrBundle].
func Open(name string) (*Bundle, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is not a regular file")}
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	layout, err := oci.ReadLayout(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
	}
	return &Bundle{file, layout}, nil
}

// Close closes the file.
func (b *Bundle) Close() error { return b.file.Close() }

// Name returns "the bundle" and the name of the file.
func (b *Bundle) Name() string { return "the bundle " + b.file.Name() }

// IsLocal returns true.
func (b *Bundle) IsLocal() bool { return true }

// CheckTrust returns nil, because a bundle is a file that the user has named.
func (b *Bundle) CheckTrust([]byte) error { return nil }

// Evidence implements [cotter.PackageStore]. It names the bundle.
func (b *Bundle) Evidence() evidence.Evidence {
	return evidence.Evidence{Kind: evidence.Mirror, By: b.Name()}
}

// Tags returns all tags in the bundle.
func (b *Bundle) Tags(context.Context) ([]string, error) {
	var tags []string
	for _, ref := range b.layout.Refs() {
		tags = append(tags, ref.Tag)
	}
	return tags, nil
}

// Manifest implements [cotter.PackageStore].
func (b *Bundle) Manifest(_ context.Context, tag string) ([]byte, error) {
	at, ok := b.layout.Tagged(tag)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: tag, Err: fs.ErrNotExist}
	}
	return b.text(at)
}

// text returns the content of a blob that is a manifest.
func (b *Bundle) text(at oci.Descriptor) ([]byte, error) {
	if at.Size > artifact.MaxManifest {
		return nil, fmt.Errorf("%w: a manifest has %d bytes", ErrBundle, at.Size)
	}
	var text bytes.Buffer
	err := b.layout.Copy(&text, at)
	return text.Bytes(), err
}

// Blob implements [cotter.PackageStore].
func (b *Bundle) Blob(ctx context.Context, digest string, size int64, file *os.File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.layout.Copy(file, oci.Descriptor{Digest: digest, Size: size})
}

// ProviderIndex implements [cotter.PackageStore].
func (b *Bundle) ProviderIndex(ctx context.Context, provider addrs.Provider, version versions.Version) ([]byte, error) {
	return b.Manifest(ctx, artifact.Release{Provider: provider, Version: version}.Tag())
}

// ProviderManifest implements [cotter.PackageStore].
func (b *Bundle) ProviderManifest(_ context.Context, _ addrs.Provider, digest string, size int64) ([]byte, error) {
	return b.text(oci.Descriptor{Digest: digest, Size: size})
}

// ProviderBlob implements [cotter.PackageStore].
func (b *Bundle) ProviderBlob(ctx context.Context, _ addrs.Provider, digest string, size int64, file *os.File, progress func(done, total int64)) error {
	if err := b.Blob(ctx, digest, size, file); err != nil {
		return err
	}
	if progress != nil {
		progress(size, size)
	}
	return nil
}
