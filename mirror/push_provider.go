package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/store/storefetch"
)

// ErrOtherPackage means that a mirror has another package for the same version and platform. [Repair]
// replaces it.
var ErrOtherPackage = errors.New("the mirror has a different package, and the lock has none of its hashes")

// errNoArchiveHash refuses to replace an archive that other locks may need exactly.
var errNoArchiveHash = errors.New("the mirror has the published archive, and the lock has no zh hash to check it with")

// lockedProvider is stored in this order: archive and manifest in the repository of the provider, the index
// that points to the manifest, and the reference in the mirror's own repository that lists the release.
type lockedProvider struct {
	installerinternal.LockedProvider
	release artifact.Release
}

func (p *pusher) pushProvider(ctx context.Context, locked installerinternal.LockedProvider) error {
	key := artifact.ProviderKey(locked.Entry, locked.Platform)
	return p.push(ctx, key, lockedProvider{locked, artifact.ReleaseOf(locked.Entry)}, &p.result.Providers)
}

func (l lockedProvider) isIn(ctx context.Context, m *Mirror) (storefetch.Presence, error) {
	return storefetch.HasProvider(ctx, m, l.Entry, l.Platform)
}

func (l lockedProvider) manifest(ctx context.Context, p *pusher) ([]byte, error) {
	targets, err := p.targets(ctx, l.release)
	if err != nil {
		return nil, err
	}
	target, ok := targets.For(l.Platform)
	if !ok {
		return nil, nil // it has just been removed
	}
	return storefetch.TargetManifest(ctx, p.mirror, l.release.Provider, target)
}

func (l lockedProvider) store(ctx context.Context, p *pusher, former []byte) (changed bool, err error) {
	if changed, err = l.storePackage(ctx, p, former); err != nil {
		return false, fmt.Errorf("provider %s %s for %s: %w", l.Entry.Address.ForDisplay(), l.Entry.Version, l.Platform, err)
	}
	return changed, nil
}

func (l lockedProvider) storePackage(ctx context.Context, p *pusher, former []byte) (changed bool, err error) {
	file, statement, err := l.pack(ctx, p.dir)
	if err != nil {
		return false, err
	}
	defer func() { _ = os.Remove(file.Name) }() // pushAll removes leftovers
	made := artifact.Provider{Statement: statement, Layer: file.Descriptor}
	replaced, err := artifact.ParseProvider(former)
	if err == nil {
		if err := l.checkReplaced(p, made, replaced); err != nil {
			return false, err
		}
	}
	text, err := made.Manifest()
	if err != nil {
		return false, err
	}
	writer, err := p.mirror.providerWriter(l.release.Provider)
	if err != nil {
		return false, err
	}
	if err := p.pushConfig(ctx, l.release.Provider.String(), writer); err != nil {
		return false, err
	}
	uploaded, err := p.pushFile(ctx, l.release.Provider, writer, file)
	if err != nil {
		return false, err
	}
	if bytes.Equal(text, former) && !p.repairs {
		return uploaded, nil
	}
	defer p.releases.lock(l.release)()
	at := oci.Describe(text)
	if err := writer.PushManifest(ctx, at.Digest, oci.ManifestType, text); err != nil {
		return false, err
	}
	err = p.pushIndex(ctx, writer, l.release, oci.Target{Platform: l.Platform, Descriptor: at})
	return uploaded || !bytes.Equal(text, former), err
}

// checkReplaced refuses to replace some packages of the mirror.
func (l lockedProvider) checkReplaced(p *pusher, made, replaced artifact.Provider) error {
	isLocked := replaced.Statement.IsIn(l.Entry.Hashes)
	had, has := replaced.Statement.Hashes, made.Statement.Hashes
	switch {
	case !isLocked && had[0] != has[0] && !p.repairs: // the h1 is first
		return ErrOtherPackage
	case isLocked && len(had) > len(has):
		return errNoArchiveHash
	}
	return nil
}

func (l lockedProvider) pack(ctx context.Context, dir string) (_ oci.File, s artifact.ProviderStatement, err error) {
	archive, err := l.Archive(ctx)
	if err != nil {
		return oci.File{}, s, err
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	file, err := artifact.PackProvider(ctx, dir, archive)
	return file, artifact.ProviderStatement{Release: l.release, Platform: l.Platform, Hashes: archive.Hashes}, err
}

// targets are those in the mirror's index. In a repair, an unreadable index counts as missing.
func (p *pusher) targets(ctx context.Context, release artifact.Release) (artifact.Targets, error) {
	targets, err := storefetch.Targets(ctx, p.mirror, release)
	unreadable := errors.Is(err, getmodules.ErrOCIContent) || errors.Is(err, artifact.ErrManifest)
	if errors.Is(err, fs.ErrNotExist) || p.repairs && unreadable {
		return nil, nil // it is replaced
	}
	return targets, err
}

// pushIndex adds a manifest to the index of a release, which keeps other platforms, and the release to the
// mirror's list. The caller holds the lock of the release.
func (p *pusher) pushIndex(ctx context.Context, writer *getmodules.OCIWriter, release artifact.Release, target oci.Target) error {
	targets, err := p.targets(ctx, release)
	if err != nil {
		return err
	}
	text, err := release.Index(targets.With(target))
	if err != nil {
		return err
	}
	if err := writer.PushManifest(ctx, release.VersionTag(), oci.IndexType, text); err != nil {
		return err
	}
	if err := p.pushConfig(ctx, "", p.mirror.writer); err != nil {
		return err
	}
	reference, err := release.Reference()
	if err != nil {
		return err
	}
	return p.pushManifest(ctx, release.Tag(), reference, false)
}

// releaseLocks are held while the manifests and the index of a release are changed. A manifest that is stored
// again while an index refers to it can look missing: Distribution does not write it atomically.
type releaseLocks struct {
	mu   sync.Mutex
	held map[artifact.Release]*sync.Mutex
}

func (l *releaseLocks) lock(r artifact.Release) (unlock func()) {
	l.mu.Lock()
	if l.held == nil {
		l.held = make(map[artifact.Release]*sync.Mutex)
	}
	one := l.held[r]
	if one == nil {
		one = new(sync.Mutex)
		l.held[r] = one
	}
	l.mu.Unlock()
	one.Lock()
	return one.Unlock
}
