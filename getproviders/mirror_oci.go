package getproviders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/ocistore"
	"github.com/cotterpin/cotter/versions"
)

// OCIMirror is the Source of repositories in an OCI registry, in the format of OpenTofu
// (https://opentofu.org/docs/cli/oci_registries/provider-mirror/). Each provider has a repository, with a
// tag for each version ("_" for "+", and no "v"). The tag points to an index of the artifact type
// application/vnd.opentofu.provider, with a manifest of application/vnd.opentofu.provider-target for each
// platform, whose only layer of the type archive/zip is the provider's archive. A lock records the layer's
// digest.
//
// An OCIMirror remembers the indexes until a run of an installer.Installer ends, otherwise as long as it
// lives. Its fields must not change while it is in use, and it must not be copied. It is safe for
// concurrent use.
type OCIMirror struct {
	Repository RepositoryTemplate
	// Fetcher opens the repositories, with its own client and credentials: a *getmodules.Fetcher, or
	// another one. It must be set.
	Fetcher ocistore.Opener

	// indexes are those of versions, for all platforms.
	indexes singleflight.Group[httpx.Shared[release], oci.Document]
}

var _ Source = (*OCIMirror)(nil)

var errNoFetcher = errors.New("the mirror has no Fetcher")

// Versions implements [Source]. The error is a *[MirrorError].
func (m *OCIMirror) Versions(ctx context.Context, provider addrs.Provider) (Listing, error) {
	ctx = httpx.WithoutPointer(ctx) // the user has named the mirror, also if only a package requires the provider
	about := MirrorError{Provider: provider}
	repository, err := m.open(ctx, &about)
	if err != nil {
		return Listing{}, err
	}
	tags, err := oci.Versions(ctx, repository)
	if err != nil {
		return Listing{}, about.with(ociFailure(err))
	}
	var found Listing
	for _, tag := range tags {
		if v, ok := parseVersion(oci.VersionOfTag(tag.Ref)); ok {
			found.Versions = append(found.Versions, Version{Version: v})
		}
	}
	return mergeListings(found), nil
}

// Package implements [Source] with requests for the index and the manifest. The error is a *[MirrorError].
func (m *OCIMirror) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (Package, error) {
	ctx = httpx.WithoutPointer(ctx)
	about := MirrorError{Provider: provider, Version: version, Platform: platform}
	repository, err := m.open(ctx, &about)
	if err != nil {
		return nil, err
	}
	index, err := singleflight.For(ctx, &m.indexes).Do(ctx, httpx.Share(ctx, release{provider, version}), func(ctx context.Context) (oci.Document, error) {
		index, err := oci.Read(ctx, repository, oci.VersionTag(version.String()))
		if err == nil {
			err = packagelimits.DiskOf(ctx).List(packagelimits.Values(len(index.Text)))
		}
		return index, err
	})
	if err != nil {
		return nil, about.with(ociFailure(err))
	}
	target, err := findTarget(index, platform)
	if err != nil {
		return nil, about.with(err)
	}
	manifest, err := oci.Read(ctx, repository, target.Digest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, about.with(fmt.Errorf("%w: the manifest that the index names is missing", ErrInvalidMirror))
	}
	if err != nil {
		return nil, about.with(ociFailure(err))
	}
	layer, err := findArchive(manifest)
	if err != nil {
		return nil, about.with(err)
	}
	return &ociPackage{mirror: m, repository: repository, layer: layer, location: about.Location + "@" + target.Digest}, nil
}

// Evidence implements [Source].
func (m *OCIMirror) Evidence(addrs.Provider) []evidence.Evidence {
	return []evidence.Evidence{m.evidence()}
}

// evidence names the template, because each provider has its own repository.
func (m *OCIMirror) evidence() evidence.Evidence {
	return namedMirror("oci://" + m.Repository.String())
}

// Local implements [Source].
func (m *OCIMirror) Local() Source { return Multi(nil) }

// open stores the repository's address in about, and sends no request.
func (m *OCIMirror) open(ctx context.Context, about *MirrorError) (ocistore.Repository, error) {
	about.Location = "OCI mirror"
	host, path, err := m.Repository.Expand(about.Provider)
	if err != nil {
		return nil, about.with(err)
	}
	about.Location = "oci://" + host + "/" + path
	if m.Fetcher == nil {
		return nil, about.with(errNoFetcher)
	}
	repository, err := m.Fetcher.OpenOCI(ctx, host, path)
	if err != nil {
		return nil, about.with(ociFailure(err))
	}
	return repository, nil
}

func findTarget(found oci.Document, platform addrs.Platform) (oci.Descriptor, error) {
	index, err := oci.ParseIndex(found.MediaType, found.Text)
	if err != nil {
		return oci.Descriptor{}, fmt.Errorf("%w: %w", ErrInvalidMirror, err)
	}
	var manifest oci.Descriptor
	for _, target := range index.Targets {
		switch {
		case target.Platform != platform:
			continue
		case manifest.Digest != "":
			return oci.Descriptor{}, fmt.Errorf("%w: the index has several manifests for %s", ErrInvalidMirror, platform)
		case !oci.IsDigest(target.Digest):
			return oci.Descriptor{}, fmt.Errorf("%w: the digest of the manifest for %s is %q", ErrInvalidMirror, platform, target.Digest)
		}
		manifest = target.Descriptor
	}
	if manifest.Digest != "" {
		return manifest, nil
	}
	for _, other := range index.Unfit {
		if other.Platform == platform {
			return oci.Descriptor{}, fmt.Errorf("%w: the index has an entry for %s that is no package of a provider: %w", ErrInvalidMirror, platform, other.Err)
		}
	}
	return oci.Descriptor{}, ErrUnsupportedPlatform
}

func findArchive(found oci.Document) (oci.Descriptor, error) {
	manifest, err := oci.ParseManifest(found.MediaType, found.Text, oci.TargetArtifact)
	var layer oci.Descriptor
	if err == nil {
		layer, err = manifest.Archive()
	}
	switch {
	case err != nil:
		return oci.Descriptor{}, fmt.Errorf("%w: %w", ErrInvalidMirror, err)
	case layer.Size > providerzip.MaxArchive:
		return oci.Descriptor{}, fmt.Errorf("%w: the archive has %d bytes, more than %d", ErrTooLarge, layer.Size, providerzip.MaxArchive)
	}
	return layer, nil
}

func ociFailure(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case errors.Is(err, git.ErrAuthentication):
		return fmt.Errorf("%w: %w", ErrMirrorRefused, err)
	}
	return err
}

type ociPackage struct {
	mirror     *OCIMirror
	repository ocistore.Repository
	layer      oci.Descriptor
	location   string
}

var _ Package = (*ociPackage)(nil)

func (p *ociPackage) Location() string { return p.location }

func (p *ociPackage) Archive() hashing.Hash {
	sum, isSHA256 := strings.CutPrefix(p.layer.Digest, "sha256:")
	if !isSHA256 {
		return ""
	}
	return hashing.Hash("zh:" + sum)
}

func (p *ociPackage) Dir() string { return "" }

func (p *ociPackage) ReportsH1() bool { return false }

func (p *ociPackage) Authenticate(context.Context) (Authentication, error) {
	found := Authentication{Evidence: p.mirror.evidence()}
	if sum := p.Archive(); sum != "" {
		found.Hashes, found.Own = []hashing.Hash{sum}, []hashing.Hash{sum}
	}
	return found, nil
}

func (p *ociPackage) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	return oci.Download(httpx.WithoutPointer(ctx), p.repository, p.layer, file, progress)
}
