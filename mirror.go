package cotter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/ocilayout"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/lockfile"
)

// Mirror is a repository of an OCI registry that has packages of locks. It is a
// [PackageStore] that asks the registry for just what a lock says: a request for the
// manifest of an entry, and one for its layer.
type Mirror struct {
	content *getmodules.OCIContent
	address string
}

// OpenMirror opens a mirror at oci://HOST/REPOSITORY without sending a request. The
// credentials, limits and retries are those of the fetcher for OCI registries.
func OpenMirror(fetcher *getmodules.Fetcher, address string) (*Mirror, error) {
	host, repository, ok := strings.Cut(strings.TrimPrefix(address, "oci://"), "/")
	if !strings.HasPrefix(address, "oci://") || !ok {
		return nil, fmt.Errorf("the address of a mirror is oci://HOST/REPOSITORY, and not %q", addrs.Redact(address))
	}
	content, err := fetcher.OCIContent(host, repository)
	if err != nil {
		return nil, err
	}
	return &Mirror{content, address}, nil
}

// Name returns the address, with what it is.
func (m *Mirror) Name() string { return "the mirror " + m.address }

// Address returns the address: oci://HOST/REPOSITORY.
func (m *Mirror) Address() string { return m.address }

// IsLocal returns false.
func (m *Mirror) IsLocal() bool { return false }

// Manifest makes Mirror a [PackageStore].
func (m *Mirror) Manifest(ctx context.Context, tag string) ([]byte, error) {
	found, err := m.content.Manifest(ctx, tag)
	return found.Text, err
}

// Blob makes Mirror a [PackageStore].
func (m *Mirror) Blob(ctx context.Context, digest string, size int64, file *os.File) error {
	return m.content.Blob(ctx, getmodules.OCIBlob{Digest: digest, Size: size}, file, nil)
}

// entryTags returns the tags of all entries that the mirror has.
func (m *Mirror) entryTags(ctx context.Context) ([]string, error) {
	var found []string
	err := m.content.Tags(ctx, "", func(tags []string) error {
		for _, tag := range tags {
			if strings.HasPrefix(tag, modpkg.EntryTag) {
				found = append(found, tag)
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing was pushed yet
	}
	return found, err
}

// MirrorResult is what PushMirror did.
type MirrorResult struct {
	// Entries is the number of different entries of locks, and Pushed that of those
	// that the mirror did not have.
	Entries, Pushed int
	// Bytes is the size of the archives that were uploaded.
	Bytes int64
}

// PushMirror stores all packages that the locks of some root modules name in a mirror.
// What the mirror has is neither packed nor uploaded again. The locks must be complete,
// and are confirmed by their origins, as for CreateBundle; onEvent is as there too. If
// projects fail, what the others have is stored nevertheless; the error joins a
// *[ProjectError] for each.
func (in *Installer) PushMirror(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event), to *Mirror) (*MirrorResult, error) {
	pusher := &mirrorPusher{mirror: to}
	err := in.pack(ctx, dirs, req, onEvent, func(s *session) *packer {
		pusher.session = s
		return &packer{session: s, use: pusher.push}
	}, func() error { return nil })
	return &pusher.result, err
}

// mirrorPusher stores packages in a mirror, each once.
type mirrorPusher struct {
	*session
	mirror  *Mirror
	entries singleflight.Memo[string, bool]
	layers  singleflight.Memo[hashing.Hash, modpkg.Artifact]
	config  singleflight.Memo[string, bool]

	mu     sync.Mutex
	result MirrorResult
}

// push stores a package unless the mirror has its entry.
func (m *mirrorPusher) push(ctx context.Context, p placedPackage) error {
	tag := p.statement.Tag()
	_, err := m.entries.Do(ctx, tag, func(ctx context.Context) (bool, error) {
		done, err := m.slot(ctx)
		if err != nil {
			return false, err
		}
		_, err = artifactOf(ctx, m.mirror, tag)
		done()
		has := err == nil
		if !has && !errors.Is(err, fs.ErrNotExist) && !isOfArtifact(err) {
			return false, err
		}
		if !has {
			err = m.pushMissing(ctx, p)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.result.Entries++
		if !has && err == nil {
			m.result.Pushed++
		}
		return !has, err
	})
	return err
}

// pushMissing stores a package that the mirror does not have: its archive, and then what
// points to it. The tag of its content points to the first artifact that has it.
func (m *mirrorPusher) pushMissing(ctx context.Context, p placedPackage) error {
	a, err := m.layers.Do(ctx, p.tree.T1(), func(ctx context.Context) (modpkg.Artifact, error) { return m.pushLayer(ctx, p) })
	if err != nil {
		return err
	}
	if _, err := m.config.Do(ctx, "", m.pushConfig); err != nil {
		return err
	}
	done, err := m.slot(ctx)
	if err != nil {
		return err
	}
	defer done()
	a.Statement = p.statement
	text, err := a.Manifest()
	if err != nil {
		return err
	}
	content := modpkg.ContentTag(p.tree.T1())
	if _, err := m.mirror.Manifest(ctx, content); errors.Is(err, fs.ErrNotExist) {
		if err := m.mirror.content.PushManifest(ctx, content, ocispec.MediaTypeImageManifest, text); err != nil {
			return err
		}
	}
	return m.mirror.content.PushManifest(ctx, p.statement.Tag(), ocispec.MediaTypeImageManifest, text)
}

// pushLayer packs a package and uploads the archive.
func (m *mirrorPusher) pushLayer(ctx context.Context, p placedPackage) (modpkg.Artifact, error) {
	done, err := m.slot(ctx)
	if err != nil {
		return modpkg.Artifact{}, err
	}
	defer done()
	name := m.cache.Stage()
	defer func() { _ = os.Remove(name) }() // a later clean-up removes what is left
	a, err := p.writeLayer(ctx, name)
	if err != nil {
		return a, err
	}
	file, err := os.Open(name)
	if err != nil {
		return a, err
	}
	defer file.Close()
	pushed, err := m.mirror.content.PushBlob(ctx, getmodules.OCIBlob{Digest: a.Layer, Size: a.Size}, file)
	if pushed {
		m.mu.Lock()
		m.result.Bytes += a.Size
		m.mu.Unlock()
	}
	return a, err
}

func (m *mirrorPusher) pushConfig(ctx context.Context) (bool, error) {
	config := []byte(modpkg.Config)
	at := ocilayout.Describe(config)
	return m.mirror.content.PushBlob(ctx, getmodules.OCIBlob{Digest: at.Digest, Size: at.Size}, bytes.NewReader(config))
}

// MirrorEntry is what a mirror has for an entry of a lock.
type MirrorEntry struct {
	// Dir is the directory of the root module, and Key the key of its entry.
	Dir, Key string
	// Source, Version and Tag are those of a BundleEntry.
	Source, Version, Tag string
	// Missing says that the mirror does not have the entry.
	Missing bool
}

// MirrorStatus returns which entries of the locks of some root modules a mirror has, in
// the order of the directories and keys. It reads only the locks and asks only the
// mirror.
func (in *Installer) MirrorStatus(ctx context.Context, dirs []string, req Request, m *Mirror) ([]MirrorEntry, error) {
	var entries []MirrorEntry
	for _, dir := range dirs {
		req := req
		req.Dir = dir
		lock, err := lockOf(req)
		if err != nil {
			return nil, &ProjectError{dir, err}
		}
		for _, entry := range lock.Modules() {
			tag := modpkg.StatementOf(entry).Tag()
			entries = append(entries, MirrorEntry{Dir: dir, Key: entry.Key, Source: entry.Source, Version: entry.Version, Tag: tag})
		}
	}
	var asked singleflight.Memo[string, bool]
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
	for i := range entries {
		e := &entries[i]
		group.Go(func() error {
			var err error
			e.Missing, err = asked.Do(ctx, e.Tag, func(ctx context.Context) (bool, error) {
				_, err := artifactOf(ctx, m, e.Tag)
				if errors.Is(err, fs.ErrNotExist) || isOfArtifact(err) {
					return true, nil
				}
				return false, err
			})
			return err
		})
	}
	return entries, group.Wait()
}

// lockOf reads and parses the lock of a request.
func lockOf(req Request) (*lockfile.File, error) {
	src, err := readLock(req)
	if err != nil {
		return nil, err
	}
	return parseLock(src, req)
}

// VerifyMirror fetches, extracts and hashes all packages of a mirror and compares them
// with their entries, as VerifyBundle does. It keeps nothing.
func (in *Installer) VerifyMirror(ctx context.Context, m *Mirror) ([]BundleEntry, error) {
	tags, err := m.entryTags(ctx)
	if err != nil {
		return nil, err
	}
	alone := *in
	alone.CacheDir = ""
	return alone.readStore(ctx, m, tags, func(*session, modpkg.Statement) error { return nil })
}
