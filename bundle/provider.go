package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/ocilayout"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/versions"
)

// providerBuilder collects the packages of providers. Their archives are files in dir.
type providerBuilder struct {
	dir  string
	made singleflight.Memo[string, packedProvider]
}

// packedProvider is the archive of a provider in a file.
type packedProvider struct {
	modpkg.ProviderArtifact
	file string
}

// providerPackage is one package of a provider that locks name. It has an archive for each
// different list of hashes.
type providerPackage struct {
	release  modpkg.Release
	platform addrs.Platform
	archives []packedProvider
	entries  []cotter.LockedProvider
}

// OtherPackageError is returned if locks have the hashes of different packages for the same
// version and platform of a provider.
type OtherPackageError struct {
	Provider addrs.Provider
	Version  string
	Platform addrs.Platform
}

func (e *OtherPackageError) Error() string {
	return fmt.Sprintf("provider %s %s for %s: the locks have hashes of different packages", e.Provider.ForDisplay(), e.Version, e.Platform)
}

// get gets the archive of a locked provider.
func (b *providerBuilder) get(ctx context.Context, p cotter.LockedProvider) (packedProvider, error) {
	key := fmt.Sprintf("%s %s %s %q", p.Entry.Address, p.Entry.Version, p.Platform, p.Entry.Hashes)
	return b.made.Do(ctx, key, func(ctx context.Context) (_ packedProvider, err error) {
		version, err := versions.Parse(p.Entry.Version)
		if err != nil {
			return packedProvider{}, err
		}
		archive, err := p.Archive(ctx)
		if err != nil {
			return packedProvider{}, err
		}
		defer func() { err = errors.Join(err, archive.Close()) }()
		file, err := os.CreateTemp(b.dir, "provider-*")
		if err != nil {
			return packedProvider{}, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		made := packedProvider{file: file.Name(), ProviderArtifact: modpkg.ProviderArtifact{
			Release:  modpkg.Release{Provider: p.Entry.Address, Version: version},
			Platform: p.Platform, Hashes: archive.Hashes, Size: archive.Size,
		}}
		made.Layer, err = ocilayout.CopyDigest(file, archive)
		return made, err
	})
}

// addProvider adds the package of a provider.
func (b *builder) addProvider(ctx context.Context, p cotter.LockedProvider) error {
	packed, err := b.providers.get(ctx, p)
	if err != nil {
		return err
	}
	key := packed.Release.Tag() + " " + p.Platform.String()
	b.mu.Lock()
	defer b.mu.Unlock()
	pkg := b.packages[key]
	if pkg == nil {
		pkg = &providerPackage{release: packed.Release, platform: p.Platform}
		b.packages[key] = pkg
	}
	pkg.archives = append(pkg.archives, packed)
	pkg.entries = append(pkg.entries, p)
	return nil
}

// choose returns the archive that matches all locks. It prefers the published archive.
func (p *providerPackage) choose() (packedProvider, error) {
	best := slices.MinFunc(p.archives, func(a, b packedProvider) int {
		if c := len(b.Hashes) - len(a.Hashes); c != 0 {
			return c
		}
		return strings.Compare(a.Layer, b.Layer)
	})
	for _, entry := range p.entries {
		if !best.IsIn(entry.Entry.Hashes) {
			return best, &OtherPackageError{p.release.Provider, p.release.Version.String(), p.platform}
		}
	}
	return best, nil
}

// writeProviders returns the refs and blobs of providers for a layout: an index for each version.
func (b *builder) writeProviders() (refs []ocilayout.Ref, blobs []ocilayout.Blob, err error) {
	targets := make(map[modpkg.Release][]modpkg.Target)
	for _, pkg := range b.packages {
		packed, err := pkg.choose()
		if err != nil {
			return nil, nil, err
		}
		text, err := packed.Manifest()
		if err != nil {
			return nil, nil, err
		}
		at := ocilayout.Describe(text)
		targets[pkg.release] = append(targets[pkg.release], modpkg.Target{Platform: pkg.platform, Digest: at.Digest, Size: at.Size})
		blobs = append(blobs, blobOf(text), ocilayout.Blob{
			Descriptor: ocilayout.Descriptor{Digest: packed.Layer, Size: packed.Size},
			Open:       func() (io.ReadCloser, error) { return os.Open(packed.file) },
		})
	}
	for release, list := range targets {
		text, err := release.Index(list)
		if err != nil {
			return nil, nil, err
		}
		refs = append(refs, ocilayout.Ref{Tag: release.Tag(), ArtifactType: modpkg.ProviderIndexType, Index: true, Manifest: ocilayout.Describe(text)})
		blobs = append(blobs, blobOf(text))
	}
	return refs, blobs, nil
}

// newProviderBuilder returns a builder that keeps its archives below a directory.
func newProviderBuilder(dir string) (*providerBuilder, error) {
	b := &providerBuilder{dir: filepath.Join(dir, "providers")}
	return b, os.Mkdir(b.dir, 0o700)
}

// ProviderIndex implements [cotter.PackageStore].
func (b *Bundle) ProviderIndex(ctx context.Context, provider addrs.Provider, version versions.Version) ([]byte, error) {
	return b.Manifest(ctx, modpkg.Release{Provider: provider, Version: version}.Tag())
}

// ProviderManifest implements [cotter.PackageStore].
func (b *Bundle) ProviderManifest(_ context.Context, _ addrs.Provider, digest string, size int64) ([]byte, error) {
	return b.text(ocilayout.Descriptor{Digest: digest, Size: size})
}

// text returns the content of a blob that is a manifest.
func (b *Bundle) text(at ocilayout.Descriptor) ([]byte, error) {
	if at.Size > modpkg.MaxManifest {
		return nil, fmt.Errorf("%w: a manifest has %d bytes", ErrBundle, at.Size)
	}
	var text bytes.Buffer
	err := b.layout.Copy(&text, at)
	return text.Bytes(), err
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

// Manifest implements [cotter.PackageStore].
func (b *Bundle) Manifest(_ context.Context, tag string) ([]byte, error) {
	at, ok := b.layout.Tagged(tag)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: tag, Err: fs.ErrNotExist}
	}
	return b.text(at)
}
