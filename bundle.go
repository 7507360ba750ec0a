package cotter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/ocilayout"
	"github.com/cotterpin/cotter/internal/singleflight"
)

// BundleResult is what CreateBundle wrote.
type BundleResult struct {
	// Entries is the number of different entries of locks, and Packages that of
	// different packages, by content.
	Entries, Packages int
	// Bytes is the size of the bundle.
	Bytes int64
}

// CreateBundle writes all packages that the locks of some root modules name as one OCI
// image layout in a tar file, which [OpenBundle] and tools such as oras and skopeo read.
// The same locks give the same bytes.
//
// The locks must be complete. Entries are confirmed by their origins, and packages
// fetched, as in an installation with Locked; what is installed or cached is used. The
// projects stay as they are. onEvent is as for InstallAll. If a project fails, nothing is
// written, and the error joins a *[ProjectError] for each one that did.
func (in *Installer) CreateBundle(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event), w io.Writer) (*BundleResult, error) {
	var written *BundleResult
	var b *bundler
	err := in.pack(ctx, dirs, req, onEvent, func(s *session) *packer {
		b = &bundler{session: s, artifacts: make(map[string]modpkg.Artifact), contents: make(map[hashing.Hash]string)}
		return &packer{session: s, use: b.add}
	}, func() (err error) {
		written, err = b.write(w)
		return err
	})
	return written, err
}

// bundler collects the artifacts of a bundle. Their layers are on the session's stage.
type bundler struct {
	*session
	layers singleflight.Memo[hashing.Hash, packedLayer]

	mu sync.Mutex
	// artifacts are the artifacts by their tags, and files those of their layers by
	// digest. contents are the tags of one artifact of each content.
	artifacts map[string]modpkg.Artifact
	files     map[string]string
	contents  map[hashing.Hash]string
}

// packedLayer is the archive of a tree in a file.
type packedLayer struct {
	modpkg.Artifact // without a statement
	file            string
}

// add adds a package.
func (b *bundler) add(ctx context.Context, p placedPackage) error {
	t1 := p.tree.T1()
	layer, err := b.layers.Do(ctx, t1, func(ctx context.Context) (packedLayer, error) {
		done, err := b.slot(ctx)
		if err != nil {
			return packedLayer{}, err
		}
		defer done()
		file := b.cache.Stage()
		a, err := p.writeLayer(ctx, file)
		return packedLayer{a, file}, err
	})
	if err != nil {
		return err
	}
	a := layer.Artifact
	a.Statement = p.statement
	tag := a.Statement.Tag()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.artifacts[tag] = a
	if b.files == nil {
		b.files = make(map[string]string)
	}
	b.files[a.Layer] = layer.file
	if first := b.contents[t1]; first == "" || tag < first {
		b.contents[t1] = tag // whichever was added first
	}
	return nil
}

// write writes the bundle.
func (b *bundler) write(w io.Writer) (*BundleResult, error) {
	var refs []ocilayout.Ref
	blobs := []ocilayout.Blob{blobOf([]byte(modpkg.Config))}
	manifests := make(map[string]ocilayout.Descriptor)
	for tag, a := range b.artifacts {
		text, err := a.Manifest()
		if err != nil {
			return nil, err
		}
		manifests[tag] = ocilayout.Describe(text)
		refs = append(refs, ocilayout.Ref{Tag: tag, ArtifactType: modpkg.ArtifactType, Manifest: manifests[tag]})
		blobs = append(blobs, blobOf(text), ocilayout.Blob{
			Descriptor: ocilayout.Descriptor{Digest: a.Layer, Size: a.Size},
			Open:       func() (io.ReadCloser, error) { return os.Open(b.files[a.Layer]) },
		})
	}
	for t1, tag := range b.contents {
		refs = append(refs, ocilayout.Ref{Tag: modpkg.ContentTag(t1), ArtifactType: modpkg.ArtifactType, Manifest: manifests[tag]})
	}
	counted := &countingWriter{w: w}
	if err := ocilayout.Write(counted, refs, blobs); err != nil {
		return nil, err
	}
	return &BundleResult{Entries: len(b.artifacts), Packages: len(b.contents), Bytes: counted.n}, nil
}

func blobOf(text []byte) ocilayout.Blob {
	return ocilayout.Blob{
		Descriptor: ocilayout.Describe(text),
		Open:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
	}
}

// Bundle is an open bundle: packages of locks in a file. It is a [PackageStore], and
// must be closed.
type Bundle struct {
	file   *os.File
	layout *ocilayout.Layout
}

// ErrBundle means that a file is not a bundle, or is a damaged one.
var ErrBundle = ocilayout.ErrLayout

// OpenBundle opens a bundle. It reads the index and none of the packages. Errors about
// its content wrap [ErrBundle].
func OpenBundle(name string) (*Bundle, error) {
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
	layout, err := ocilayout.Read(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
	}
	return &Bundle{file, layout}, nil
}

// Close closes the file.
func (b *Bundle) Close() error { return b.file.Close() }

// Name returns the name of the file, with what it is.
func (b *Bundle) Name() string { return "the bundle " + b.file.Name() }

// IsLocal returns true.
func (b *Bundle) IsLocal() bool { return true }

// Manifest makes Bundle a [PackageStore].
func (b *Bundle) Manifest(_ context.Context, tag string) ([]byte, error) {
	at, ok := b.layout.Tagged(tag)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: tag, Err: fs.ErrNotExist}
	}
	if at.Size > modpkg.MaxManifest {
		return nil, fmt.Errorf("%w: a manifest has %d bytes", ErrBundle, at.Size)
	}
	var text bytes.Buffer
	err := b.layout.Copy(&text, at)
	return text.Bytes(), err
}

// Blob makes Bundle a [PackageStore].
func (b *Bundle) Blob(ctx context.Context, digest string, size int64, file *os.File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.layout.Copy(file, ocilayout.Descriptor{Digest: digest, Size: size})
}

// BundleEntry is what a bundle has for one entry of a lock.
type BundleEntry struct {
	// Source, Version, Package and Hashes are those of the entry.
	Source, Version, Package string
	Hashes                   []hashing.Hash
	// Tag is the tag of the artifact.
	Tag string
	// Err is why the artifact is not what its entry says; nil if it is.
	Err error
}

// VerifyBundle extracts and hashes all packages of a bundle and compares them with their
// entries, without a network. It keeps nothing. The entries are in the order of their
// sources and versions. The error is about what concerns all of them.
func (in *Installer) VerifyBundle(ctx context.Context, b *Bundle) ([]BundleEntry, error) {
	alone := *in
	alone.CacheDir = ""
	return alone.readStore(ctx, b, b.entryTags(), func(*session, modpkg.Statement) error { return nil })
}

// ImportBundle puts all packages of a bundle into the cache, and records their entries as
// confirmed for this user, so that later runs need no origin for them: who imports a
// bundle trusts it. Damaged packages are not imported; their entries have an Err.
func (in *Installer) ImportBundle(ctx context.Context, b *Bundle) ([]BundleEntry, error) {
	if in.CacheDir == "" {
		return nil, errors.New("there is no cache to import into")
	}
	return in.readStore(ctx, b, b.entryTags(), func(s *session, statement modpkg.Statement) error {
		if s.cacheErr != nil {
			return s.cacheErr
		}
		return s.cache.Confirm(recordsOf(statement)...)
	})
}

// entryTags returns the tags of all entries in the bundle.
func (b *Bundle) entryTags() []string {
	var tags []string
	for _, ref := range b.layout.Refs() {
		if strings.HasPrefix(ref.Tag, modpkg.EntryTag) {
			tags = append(tags, ref.Tag)
		}
	}
	return tags
}

// readStore fetches the packages with some tags from a store into the cache and calls
// use for those that are what their entries say.
func (in *Installer) readStore(ctx context.Context, store PackageStore, tags []string, use func(*session, modpkg.Statement) error) ([]BundleEntry, error) {
	events := &events{fn: in.OnEvent}
	key, err := in.userKey(events)
	if err != nil {
		return nil, err
	}
	own := *in
	own.Stores, own.shared = []PackageStore{store}, nil
	s, done, err := own.sharedSession(key)
	if err != nil {
		return nil, err
	}
	defer done()
	stored := &storedEntries{session: s, events: events}
	entries := make([]BundleEntry, len(tags))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
	for i, tag := range tags {
		group.Go(func() error {
			found, err := artifactOf(ctx, store, tag)
			if err == nil {
				_, err = stored.fetchArtifact(ctx, 0, found)
			}
			st := found.Statement
			entries[i] = BundleEntry{st.Source, st.Version, st.Package, st.Hashes, tag, err}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return nil // the others go on
			}
			return use(s, st)
		})
	}
	err = group.Wait()
	slices.SortFunc(entries, func(a, b BundleEntry) int {
		return strings.Compare(a.Source+"\x00"+a.Version+a.Tag, b.Source+"\x00"+b.Version+b.Tag)
	})
	return entries, err
}
