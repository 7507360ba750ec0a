package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/ocilayout"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/versions"
)

// ErrOtherPackage means that a mirror has a different package of a provider for the same version
// and platform, and that the lock has none of its hashes. [Repair] replaces it.
var ErrOtherPackage = errors.New("the mirror has a different package, and the lock has none of its hashes")

// errNoArchiveHash says that a lock does not have enough hashes to replace an archive: other
// locks may need exactly the one in the mirror.
var errNoArchiveHash = errors.New("the mirror has the published archive, and the lock has no zh hash to check it with")

// providerPusher is the state of a push that concerns providers.
type providerPusher struct {
	entries singleflight.Memo[string, bool]
	configs singleflight.Memo[string, bool]

	mu sync.Mutex
	// indexes are the mutexes that are held while the index of a release is changed.
	indexes map[modpkg.Release]*sync.Mutex
}

// index returns the mutex that must be held while the index of a release is changed.
func (p *providerPusher) index(r modpkg.Release) *sync.Mutex {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.indexes == nil {
		p.indexes = make(map[modpkg.Release]*sync.Mutex)
	}
	if p.indexes[r] == nil {
		p.indexes[r] = new(sync.Mutex)
	}
	return p.indexes[r]
}

// pushProvider stores the package of a provider unless the mirror already has it in the required
// form.
func (p *pusher) pushProvider(ctx context.Context, locked cotter.LockedProvider) error {
	version, err := versions.Parse(locked.Entry.Version)
	if err != nil {
		return err
	}
	release := modpkg.Release{Provider: locked.Entry.Address, Version: version}
	key := fmt.Sprintf("%s %s %q", release.Tag(), locked.Platform, locked.Entry.Hashes)
	_, err = p.providers.entries.Do(ctx, key, func(ctx context.Context) (bool, error) {
		has, _, err := cotter.StoreHasProvider(ctx, p.mirror, locked.Entry, locked.Platform)
		if err != nil {
			return false, err
		}
		var found []byte
		if has != cotter.StoredNot {
			if found, err = p.providerManifest(ctx, release, locked); err != nil {
				return false, err
			}
		}
		changed := false
		if has != cotter.StoredLocked || p.repairs || p.lacksSignature(found) {
			changed, err = p.storeProvider(ctx, release, locked, found)
		}
		if err != nil {
			return false, fmt.Errorf("provider %s %s for %s: %w", locked.Entry.Address.ForDisplay(), locked.Entry.Version, locked.Platform, err)
		}
		p.count(&p.result.Providers, has != cotter.StoredNot, changed)
		return changed, nil
	})
	return err
}

// providerManifest returns the manifest that the mirror has for a platform, or nil.
func (p *pusher) providerManifest(ctx context.Context, release modpkg.Release, locked cotter.LockedProvider) ([]byte, error) {
	targets, err := p.targets(ctx, release)
	if err != nil {
		return nil, err
	}
	target, ok := modpkg.TargetFor(targets, locked.Platform)
	if !ok {
		return nil, nil // it has just been removed
	}
	return p.mirror.ProviderManifest(ctx, release.Provider, target.Digest, target.Size)
}

// targets returns the targets in the mirror's index of a release. In a repair, an index that
// cannot be read counts as missing.
func (p *pusher) targets(ctx context.Context, release modpkg.Release) ([]modpkg.Target, error) {
	text, err := p.mirror.ProviderIndex(ctx, release.Provider, release.Version)
	if errors.Is(err, fs.ErrNotExist) || p.repairs && errors.Is(err, getmodules.ErrOCIContent) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	targets, err := modpkg.ParseIndex(text)
	if err != nil && p.repairs {
		return nil, nil // it is replaced
	}
	return targets, err
}

// storeProvider stores a package: first its archive and manifest, then the index that points to
// them. found is the manifest that the mirror has, or nil. storeProvider reports whether anything
// in the mirror has changed.
func (p *pusher) storeProvider(ctx context.Context, release modpkg.Release, locked cotter.LockedProvider, found []byte) (changed bool, err error) {
	file, artifact, err := p.writeArchive(ctx, release, locked)
	if err != nil {
		return false, err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name()) // pushAll removes leftovers
	}()
	former, err := modpkg.ParseProviderManifest(found)
	switch {
	case err != nil:
	case !former.IsIn(locked.Entry.Hashes) && former.Hashes[0] != artifact.Hashes[0] && !p.repairs: // the h1 is first
		return false, ErrOtherPackage
	case former.IsIn(locked.Entry.Hashes) && len(former.Hashes) > len(artifact.Hashes):
		return false, errNoArchiveHash
	case former.Layer == artifact.Layer:
		artifact.Signatures = former.Signatures
	}
	if p.mirror.SignKey != nil {
		if artifact, err = artifact.Sign(p.mirror.SignKey); err != nil {
			return false, err
		}
	}
	text, err := artifact.Manifest()
	if err != nil {
		return false, err
	}
	content, err := p.mirror.providerContent(release.Provider)
	if err != nil {
		return false, err
	}
	if _, err := p.providers.configs.Do(ctx, release.Provider.String(), func(ctx context.Context) (bool, error) { return pushConfig(ctx, content) }); err != nil {
		return false, err
	}
	uploaded, err := p.pushFile(ctx, content, getmodules.OCIBlob{Digest: artifact.Layer, Size: artifact.Size}, file)
	if err != nil {
		return false, err
	}
	if bytes.Equal(text, found) && !p.repairs {
		return uploaded, nil
	}
	at := ocilayout.Describe(text)
	if err := content.PushManifest(ctx, at.Digest, ocispec.MediaTypeImageManifest, text); err != nil {
		return false, err
	}
	err = p.pushIndex(ctx, content, release, modpkg.Target{Platform: locked.Platform, Digest: at.Digest, Size: at.Size})
	return uploaded || !bytes.Equal(text, found), err
}

// writeArchive writes the archive of a package to a file and returns the file, open for reading.
func (p *pusher) writeArchive(ctx context.Context, release modpkg.Release, locked cotter.LockedProvider) (_ *os.File, a modpkg.ProviderArtifact, err error) {
	archive, err := locked.Archive(ctx)
	if err != nil {
		return nil, a, err
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	file, err := os.CreateTemp(p.dir, "provider-*")
	if err != nil {
		return nil, a, err
	}
	a = modpkg.ProviderArtifact{Release: release, Platform: locked.Platform, Hashes: archive.Hashes, Size: archive.Size}
	if a.Layer, err = ocilayout.CopyDigest(file, archive); err != nil {
		return nil, a, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return file, a, nil
}

// pushIndex adds a manifest to the index of a release, which keeps the manifests for other
// platforms. It also adds the release to the mirror's list.
func (p *pusher) pushIndex(ctx context.Context, content *getmodules.OCIContent, release modpkg.Release, target modpkg.Target) error {
	held := p.providers.index(release)
	held.Lock()
	defer held.Unlock()
	targets, err := p.targets(ctx, release)
	if err != nil {
		return err
	}
	text, err := release.Index(modpkg.WithTarget(targets, target))
	if err != nil {
		return err
	}
	if err := content.PushManifest(ctx, release.VersionTag(), ocispec.MediaTypeImageIndex, text); err != nil {
		return err
	}
	if _, err := p.config.Do(ctx, "", p.pushConfig); err != nil {
		return err
	}
	reference, err := release.Reference()
	if err != nil {
		return err
	}
	return p.pushManifest(ctx, release.Tag(), reference, false)
}
