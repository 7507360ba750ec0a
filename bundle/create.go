package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/store/artifact"
)

// Result describes the bundle that Create has written.
type Result struct {
	// Entries are the different lock entries of modules, and Packages those with different content.
	Entries, Packages int
	// Providers is the number of provider packages, for all platforms.
	Providers int
	// Bytes is the size of the bundle.
	Bytes int64
}

// OtherPackageError is returned if locks have the hashes of different packages for the same version and
// platform of a provider.
type OtherPackageError struct {
	Provider addrs.Provider
	Version  string
	Platform addrs.Platform
}

func (e *OtherPackageError) Error() string {
	return fmt.Sprintf("provider %s %s for %s: the locks have hashes of different packages", e.Provider.ForDisplay(), e.Version, e.Platform)
}

// Create writes a bundle with all packages of the scope that the locks of some projects name. The locks
// must be complete, and are confirmed as in an installation with Locked. If a project fails, nothing is written,
// and the error joins a *[installer.ProjectError] for each.
func Create(ctx context.Context, in *installer.Installer, projects []installer.Project, o installer.LockedOptions, w io.Writer) (*Result, error) {
	temporary, remove, err := filelock.MkdirTemp("cotter-bundle-")
	if err != nil {
		return nil, err
	}
	defer remove()
	b := &builder{
		dir:       temporary,
		modules:   make(map[string]module),
		contents:  make(map[hashing.Hash]string),
		providers: make(map[providerKey]*provider),
	}
	if err := installerinternal.LockedPackages(ctx, in, projects, o, installerinternal.LockedFuncs{Module: b.addModule, Provider: b.addProvider}); err != nil {
		return nil, err
	}
	return b.write(w)
}

// builder collects the packages of a bundle. Their archives are files in dir.
type builder struct {
	dir         string
	ofModules   singleflight.Memo[hashing.Hash, oci.File]
	ofProviders singleflight.Memo[string, providerArchive]

	mu sync.Mutex
	// modules are by tag; contents has the tag of one for each content.
	modules   map[string]module
	contents  map[hashing.Hash]string
	providers map[providerKey]*provider
}

type module struct {
	statement artifact.Statement
	archive   oci.File
}

func (b *builder) addModule(ctx context.Context, p installerinternal.LockedModule) error {
	t1 := p.Tree.T1()
	packed, err := b.ofModules.Do(ctx, t1, func(ctx context.Context) (oci.File, error) {
		return artifact.PackModule(ctx, b.dir, p.Open, p.Tree, 0)
	})
	if err != nil {
		return err
	}
	statement := artifact.StatementOf(p.Entry)
	tag := statement.Tag()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.modules[tag] = module{statement, packed}
	if first := b.contents[t1]; first == "" || tag < first {
		b.contents[t1] = tag // independent of the order in which packages are added
	}
	return nil
}

type providerKey struct {
	release  artifact.Release
	platform addrs.Platform
}

// provider is a package of a provider, with an archive for each different list of hashes.
type provider struct {
	archives []providerArchive
	entries  []installerinternal.LockedProvider
}

type providerArchive struct {
	oci.File
	statement artifact.ProviderStatement
}

func (b *builder) addProvider(ctx context.Context, p installerinternal.LockedProvider) error {
	key := providerKey{artifact.ReleaseOf(p.Entry), p.Platform}
	packed, err := b.ofProviders.Do(ctx, artifact.ProviderKey(p.Entry, p.Platform), func(ctx context.Context) (_ providerArchive, err error) {
		published, err := p.Archive(ctx)
		if err != nil {
			return providerArchive{}, err
		}
		defer func() { err = errors.Join(err, published.Close()) }()
		file, err := artifact.PackProvider(ctx, b.dir, published)
		statement := artifact.ProviderStatement{Release: key.release, Platform: p.Platform, Hashes: published.Hashes}
		return providerArchive{file, statement}, err
	})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	pkg := b.providers[key]
	if pkg == nil {
		pkg = &provider{}
		b.providers[key] = pkg
	}
	pkg.archives = append(pkg.archives, packed)
	pkg.entries = append(pkg.entries, p)
	return nil
}

// choose prefers the published archive among those that match all locks.
func (p *provider) choose() (providerArchive, error) {
	best := slices.MinFunc(p.archives, func(a, b providerArchive) int {
		if c := len(b.statement.Hashes) - len(a.statement.Hashes); c != 0 {
			return c
		}
		return strings.Compare(a.Digest, b.Digest)
	})
	for _, entry := range p.entries {
		if s := best.statement; !s.IsIn(entry.Entry.Hashes) {
			return best, &OtherPackageError{s.Provider, s.Version.String(), s.Platform}
		}
	}
	return best, nil
}

func (b *builder) write(w io.Writer) (*Result, error) {
	l := &layout{}
	l.addText([]byte(oci.EmptyConfig))
	if err := b.addModules(l); err != nil {
		return nil, err
	}
	if err := b.addProviders(l); err != nil {
		return nil, err
	}
	counted := &countingWriter{w: w}
	if err := oci.WriteLayout(counted, l.refs, l.blobs); err != nil {
		return nil, err
	}
	return &Result{Entries: len(b.modules), Packages: len(b.contents), Providers: len(b.providers), Bytes: counted.n}, nil
}

func (b *builder) addModules(l *layout) error {
	manifests := make(map[string]oci.Descriptor)
	for tag, m := range b.modules {
		text, err := artifact.Module{Statement: m.statement, Layer: m.archive.Descriptor}.Manifest()
		if err != nil {
			return err
		}
		manifests[tag] = l.addText(text)
		l.addFile(m.archive)
		l.refs = append(l.refs, oci.Ref{Tag: tag, ArtifactType: oci.ModuleArtifact, Manifest: manifests[tag]})
	}
	for t1, tag := range b.contents {
		l.refs = append(l.refs, oci.Ref{Tag: artifact.ContentTag(t1), ArtifactType: oci.ModuleArtifact, Manifest: manifests[tag]})
	}
	return nil
}

// addProviders adds an index for each version.
func (b *builder) addProviders(l *layout) error {
	targets := make(map[artifact.Release]artifact.Targets)
	for key, pkg := range b.providers {
		packed, err := pkg.choose()
		if err != nil {
			return err
		}
		text, err := artifact.Provider{Statement: packed.statement, Layer: packed.Descriptor}.Manifest()
		if err != nil {
			return err
		}
		targets[key.release] = append(targets[key.release], oci.Target{Platform: key.platform, Descriptor: l.addText(text)})
		l.addFile(packed.File)
	}
	for release, list := range targets {
		text, err := release.Index(list)
		if err != nil {
			return err
		}
		l.refs = append(l.refs, oci.Ref{Tag: release.Tag(), ArtifactType: oci.ProviderArtifact, Index: true, Manifest: l.addText(text)})
	}
	return nil
}

type layout struct {
	refs  []oci.Ref
	blobs []oci.Blob
}

func (l *layout) addText(text []byte) oci.Descriptor {
	at := oci.Describe(text)
	l.blobs = append(l.blobs, oci.Blob{
		Descriptor: at,
		Open:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
	})
	return at
}

func (l *layout) addFile(file oci.File) {
	l.blobs = append(l.blobs, oci.Blob{
		Descriptor: file.Descriptor,
		Open:       func() (io.ReadCloser, error) { return os.Open(file.Name) },
	})
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
