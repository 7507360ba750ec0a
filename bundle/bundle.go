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
	"sync"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/ocilayout"
	"github.com/cotterpin/cotter/internal/singleflight"
)

// Result describes the bundle that Create has written.
type Result struct {
	// Entries is the number of different lock entries of modules, and Packages is the number of
	// their packages with different content.
	Entries, Packages int
	// Providers is the number of provider packages, for all platforms.
	Providers int
	// Bytes is the size of the bundle.
	Bytes int64
}

// Create writes a bundle with all packages that the locks of some root modules name. It includes
// the packages of providers if req.Providers is set, for the platforms in req.Providers.
//
// The locks must be complete. dirs, req and onEvent are passed to
// [cotter.Installer.LockedPackages] and [cotter.Installer.LockedProviders], which confirm and
// fetch the packages. If a project fails, nothing is written, and the error joins a
// *[cotter.ProjectError] for each failed project. The archives are kept in a temporary directory
// until all of them are written.
func Create(ctx context.Context, in *cotter.Installer, dirs []string, req cotter.Request, onEvent func(dir string, event cotter.Event), w io.Writer) (*Result, error) {
	temporary, err := os.MkdirTemp("", "cotter-bundle-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temporary) }() // the system removes leftovers
	b := &builder{
		dir: temporary, artifacts: make(map[string]modpkg.Artifact),
		files: make(map[string]string), contents: make(map[hashing.Hash]string),
		packages: make(map[string]*providerPackage),
	}
	if b.providers, err = newProviderBuilder(temporary); err != nil {
		return nil, err
	}
	if err := in.LockedPackages(ctx, dirs, req, onEvent, b.add); err != nil {
		return nil, err
	}
	if req.Providers != nil {
		if err := in.LockedProviders(ctx, dirs, req, onEvent, b.addProvider); err != nil {
			return nil, err
		}
	}
	return b.write(w)
}

// builder collects the artifacts of a bundle. Their layers are files in dir.
type builder struct {
	dir       string
	layers    singleflight.Memo[hashing.Hash, layer]
	providers *providerBuilder

	mu sync.Mutex
	// packages are the packages of providers by tag and platform.
	packages map[string]*providerPackage
	// artifacts are the artifacts by tag, and files are the names of their layers' files by
	// digest. contents has the tag of one artifact for each content.
	artifacts map[string]modpkg.Artifact
	files     map[string]string
	contents  map[hashing.Hash]string
}

// layer is the archive of a tree in a file.
type layer struct {
	modpkg.Artifact // without a statement
	file            string
}

// add adds a package.
func (b *builder) add(ctx context.Context, p cotter.LockedPackage) error {
	t1 := p.Tree.T1()
	packed, err := b.layers.Do(ctx, t1, func(ctx context.Context) (layer, error) {
		root, err := p.Open()
		if err != nil {
			return layer{}, err
		}
		defer root.Close()
		name := filepath.Join(b.dir, modpkg.ContentTag(t1))
		a, err := modpkg.WriteLayer(ctx, name, root.FS(), p.Tree, 0, modpkg.Statement{})
		return layer{a, name}, err
	})
	if err != nil {
		return err
	}
	a := packed.Artifact
	a.Statement = modpkg.StatementOf(p.Entry)
	tag := a.Statement.Tag()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.artifacts[tag], b.files[a.Layer] = a, packed.file
	if first := b.contents[t1]; first == "" || tag < first {
		b.contents[t1] = tag // independent of the order in which packages are added
	}
	return nil
}

// write writes the bundle.
func (b *builder) write(w io.Writer) (*Result, error) {
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
	providerRefs, providerBlobs, err := b.writeProviders()
	if err != nil {
		return nil, err
	}
	refs, blobs = append(refs, providerRefs...), append(blobs, providerBlobs...)
	counted := &countingWriter{w: w}
	if err := ocilayout.Write(counted, refs, blobs); err != nil {
		return nil, err
	}
	return &Result{Entries: len(b.artifacts), Packages: len(b.contents), Providers: len(b.packages), Bytes: counted.n}, nil
}

func blobOf(text []byte) ocilayout.Blob {
	return ocilayout.Blob{
		Descriptor: ocilayout.Describe(text),
		Open:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
	}
}

// countingWriter counts the bytes that are written to it.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Bundle is an open bundle. It is a [cotter.ListedStore] and must be closed.
type Bundle struct {
	file   *os.File
	layout *ocilayout.Layout
}

var _ cotter.ListedStore = (*Bundle)(nil)

// ErrBundle means that a file is not a bundle or is damaged.
var ErrBundle = ocilayout.ErrLayout

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
	layout, err := ocilayout.Read(file)
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

// Blob implements [cotter.PackageStore].
func (b *Bundle) Blob(ctx context.Context, digest string, size int64, file *os.File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.layout.Copy(file, ocilayout.Descriptor{Digest: digest, Size: size})
}
