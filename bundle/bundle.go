package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/ocistore"
	"github.com/cotterpin/cotter/versions"
)

// Bundle is an open bundle, an [ocistore.Store]. It must be closed.
type Bundle struct {
	file   *os.File
	layout *oci.Layout
}

var _ ocistore.Store = (*Bundle)(nil)

// ErrBundle means that a file is not a bundle or is damaged.
var ErrBundle = oci.ErrLayout

// Open reads the index, but no packages. Errors about the content wrap [ErrBundle].
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

var errNotOpen = fmt.Errorf("the bundle is not open: %w", fs.ErrClosed)

// Close closes the file.
func (b *Bundle) Close() error {
	if b == nil || b.file == nil {
		return errNotOpen
	}
	return b.file.Close()
}

// Verify fetches and hashes all packages of the bundle, and compares them with their entries. It keeps nothing. The
// result is sorted by source and version, providers last; the error is about the bundle as a whole.
func (b *Bundle) Verify(ctx context.Context, in *installer.Installer) ([]ocistore.Entry, error) {
	return installerinternal.VerifyStore(ctx, in, b)
}

// Import puts all packages of the bundle into the cache, and records their entries as confirmed for this user:
// importing a bundle means trusting it. Damaged packages are not imported, and of provider packages for other
// platforms only the hashes. The result is as for [Bundle.Verify].
func (b *Bundle) Import(ctx context.Context, in *installer.Installer) ([]ocistore.Entry, error) {
	return installerinternal.ImportStore(ctx, in, b)
}

// Info implements [ocistore.Store]. A bundle confirms its entries, because the user has named the file.
func (b *Bundle) Info() ocistore.Info {
	name := ""
	if b != nil && b.file != nil {
		name = b.file.Name()
	}
	return ocistore.Info{Name: "the bundle " + name, Local: true, Trusted: true}
}

// Repository implements [ocistore.Store].
func (b *Bundle) Repository(_ context.Context, provider addrs.Provider) (ocistore.Repository, error) {
	if b == nil || b.layout == nil {
		return nil, errNotOpen
	}
	if provider == (addrs.Provider{}) {
		return b.layout, nil
	}
	return releases{b.layout, provider}, nil
}

// releases is a bundle as the repository of one provider, whose tags are versions.
type releases struct {
	*oci.Layout
	provider addrs.Provider
}

func (r releases) Resolve(ctx context.Context, reference string) (ocispec.Descriptor, error) {
	if version, err := versions.ParseProviderVersion(oci.VersionOfTag(reference)); err == nil {
		reference = artifact.Release{Provider: r.provider, Version: version}.Tag()
	}
	return r.Layout.Resolve(ctx, reference)
}

func (r releases) Tags(ctx context.Context, last string, page func(tags []string) error) error {
	var tags []string
	for _, ref := range r.Refs() {
		if !strings.HasPrefix(ref.Tag, artifact.ProviderTag) {
			continue
		}
		index, err := oci.Read(ctx, r.Layout, ref.Tag)
		if err != nil {
			return err
		}
		release, err := artifact.ParseReference(index.Text)
		if err != nil {
			return err
		}
		if release.Provider == r.provider {
			tags = append(tags, release.VersionTag())
		}
	}
	return page(tags[slices.Index(tags, last)+1:])
}
