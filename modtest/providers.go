package modtest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

type providerRegistry struct {
	opts    Options
	host    string
	modules *registry // and the discovery document and token

	mu       sync.Mutex
	releases map[string]map[string]*providerRelease // "NAMESPACE/TYPE" -> version
}

// providerRelease is never modified; put and reshape replace it.
type providerRelease struct {
	name, version string // name is "NAMESPACE/TYPE"
	shape         ProviderShape
	packages      []providerPackage // sorted by platform
}

func newProviderRelease(name, version string, packages []providerPackage) *providerRelease {
	slices.SortFunc(packages, func(a, b providerPackage) int {
		return strings.Compare(a.platform.String(), b.platform.String())
	})
	return &providerRelease{name: name, version: version, packages: packages}
}

type providerPackage struct {
	platform addrs.Platform
	filename string
	archive  []byte
	sum      string // of the archive, SHA-256 in hexadecimal
	h1       hashing.Hash
}

var (
	errNotPlatform = errors.New(`not a platform such as "linux_amd64"`)
	errNotProvider = errors.New("not of the form NAMESPACE/TYPE")
)

func newProviderRegistry(fsys fs.FS, opts Options, host string, modules *registry) (*providerRegistry, error) {
	r := &providerRegistry{opts: opts, host: host, modules: modules, releases: map[string]map[string]*providerRelease{}}
	platforms, err := directoriesAt(fsys, "providers", 4)
	if err != nil {
		return nil, err
	}
	for _, at := range platforms {
		dir := path.Join("providers", at)
		files, err := subtree(fsys, dir)
		if err != nil {
			return nil, err
		}
		release, platform := path.Split(at)
		name, version := path.Split(path.Clean(release))
		if err := r.put(path.Clean(name), version, platform, files); err != nil {
			return nil, &TreeError{dir, err}
		}
	}
	return r, nil
}

func (r *providerRegistry) put(name, version, platform string, fsys fs.FS) error {
	if !fullVersion(version) {
		return errNotVersion
	}
	if strings.Count(name, "/") != 1 || !fs.ValidPath(name) {
		return errNotProvider
	}
	parsed, err := addrs.ParsePlatform(platform)
	if err != nil {
		return errNotPlatform
	}
	pkg, err := newProviderPackage(path.Base(name), version, parsed, fsys, r.host)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.releases[name] == nil {
		r.releases[name] = map[string]*providerRelease{}
	}
	packages, shape := []providerPackage{pkg}, ProviderSigned
	if old, ok := r.releases[name][version]; ok {
		shape = old.shape
		for _, p := range old.packages {
			if p.platform != parsed {
				packages = append(packages, p)
			}
		}
	}
	next := newProviderRelease(name, version, packages)
	next.shape = shape
	r.releases[name][version] = next
	return nil
}

func newProviderPackage(kind, version string, platform addrs.Platform, fsys fs.FS, host string) (providerPackage, error) {
	files, err := readFiles(fsys, host)
	if err != nil {
		return providerPackage{}, err
	}
	for i, f := range files {
		if f.mode == 0o644 && strings.HasPrefix(path.Base(f.path), "terraform-provider-") {
			files[i].mode = 0o755
		}
	}
	archive, err := packZip(files)
	if err != nil {
		return providerPackage{}, err
	}
	contents, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return providerPackage{}, err
	}
	h1, err := hashing.FS(contents)
	sum := sha256.Sum256(archive)
	return providerPackage{
		platform: platform,
		filename: fmt.Sprintf("%s_%s.zip", releaseName(kind, version), platform),
		archive:  archive,
		sum:      hex.EncodeToString(sum[:]),
		h1:       h1,
	}, err
}

func releaseName(kind, version string) string { return "terraform-provider-" + kind + "_" + version }

func (r *providerRelease) sumsName() string {
	return releaseName(path.Base(r.name), r.version) + "_SHA256SUMS"
}

// find returns the package with this name of its archive or, if filename is "", for the platform.
func (r *providerRelease) find(filename string, platform addrs.Platform) (providerPackage, bool) {
	i := slices.IndexFunc(r.packages, func(p providerPackage) bool {
		return p.filename == filename || filename == "" && p.platform == platform
	})
	if i < 0 {
		return providerPackage{}, false
	}
	return r.packages[i], true
}

func (r *providerRegistry) release(name, version string) (*providerRelease, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.releases[name][version]
	return found, ok
}

// list returns the versions, oldest first, and whether the provider is known.
func (r *providerRegistry) list(name string) ([]*providerRelease, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.releases[name]
	return slices.SortedFunc(maps.Values(known), func(a, b *providerRelease) int {
		return compareVersions("v"+a.version, "v"+b.version)
	}), ok
}

func (r *providerRegistry) names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.releases))
}

// withdraw reports whether the version existed.
func (r *providerRegistry) withdraw(name, version string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.releases[name][version]
	delete(r.releases[name], version)
	return ok
}

func (r *providerRegistry) reshape(name, version string, shape ProviderShape) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, ok := r.releases[name][version]
	if ok {
		next := *old
		next.shape = shape
		r.releases[name][version] = &next
	}
	return ok
}

// PublishProvider adds or replaces the package of a provider ("acme/cloud") for a platform ("linux_amd64").
// Archive, sums and signature match each other, but after a replacement not the hashes in a lock. The error
// is a [*PublishError].
func (w *World) PublishProvider(name, version, platform string, files fs.FS) error {
	return publishError(name, version, w.providers.put(name, version, platform, files))
}

// WithdrawProvider removes a version from the registry and the mirrors. The error is a [*PublishError].
func (w *World) WithdrawProvider(name, version string) error {
	if !w.providers.withdraw(name, version) {
		return publishError(name, version, fs.ErrNotExist)
	}
	return nil
}

// SetProviderShape changes the shape of a version in the registry. The error is a [*PublishError].
func (w *World) SetProviderShape(name, version string, shape ProviderShape) error {
	if !w.providers.reshape(name, version, shape) {
		return publishError(name, version, fs.ErrNotExist)
	}
	return nil
}

// ProviderHashes returns the h1 of a package's files and the zh of its archive. The error is a
// [*PublishError].
func (w *World) ProviderHashes(name, version, platform string) (h1, zh hashing.Hash, err error) {
	parsed, err := addrs.ParsePlatform(platform)
	if err != nil {
		return "", "", publishError(name, version, errNotPlatform)
	}
	if release, ok := w.providers.release(name, version); ok {
		if pkg, ok := release.find("", parsed); ok {
			return pkg.h1, hashing.Hash("zh:" + pkg.sum), nil
		}
	}
	return "", "", publishError(name, version, fs.ErrNotExist)
}
