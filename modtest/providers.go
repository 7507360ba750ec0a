package modtest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

type providerRegistry struct {
	opts    Options
	host    string
	modules *registry // and the discovery document and token

	releases shelf[*providerRelease] // by "NAMESPACE/TYPE"
}

// providerRelease is never modified, but replaced.
type providerRelease struct {
	name, version string // name is "NAMESPACE/TYPE"
	shape         ProviderShape
	packages      []providerPackage // sorted by platform
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
	r := &providerRegistry{opts: opts, host: host, modules: modules}
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
	r.releases.put(name, version, func(old *providerRelease) *providerRelease {
		next := &providerRelease{name: name, version: version, packages: []providerPackage{pkg}}
		if old != nil {
			next.shape = old.shape
			for _, p := range old.packages {
				if p.platform != parsed {
					next.packages = append(next.packages, p)
				}
			}
		}
		slices.SortFunc(next.packages, func(a, b providerPackage) int {
			return strings.Compare(a.platform.String(), b.platform.String())
		})
		return next
	})
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

// PublishProvider adds or replaces the package of a provider ("acme/cloud") for a platform ("linux_amd64").
// Archive, sums and signature match each other, but after a replacement not the hashes in a lock. The error
// is a [*PublishError].
func (w *World) PublishProvider(name, version, platform string, files fs.FS) error {
	return publishError(name, version, w.providers.put(name, version, platform, files))
}

// WithdrawProvider removes a version from the registry and the mirrors. The error is a [*PublishError].
func (w *World) WithdrawProvider(name, version string) error {
	return publishError(name, version, w.providers.releases.withdraw(name, version))
}

// SetProviderShape changes the shape of a version in the registry. The error is a [*PublishError].
func (w *World) SetProviderShape(name, version string, shape ProviderShape) error {
	return publishError(name, version, w.providers.releases.change(name, version, func(versions map[string]*providerRelease) {
		next := *versions[version]
		next.shape = shape
		versions[version] = &next
	}))
}

// ProviderHashes returns the h1 of a package's files and the zh of its archive. The error is a
// [*PublishError].
func (w *World) ProviderHashes(name, version, platform string) (h1, zh hashing.Hash, err error) {
	parsed, err := addrs.ParsePlatform(platform)
	if err != nil {
		return "", "", publishError(name, version, errNotPlatform)
	}
	if release, ok := w.providers.releases.get(name, version); ok {
		if pkg, ok := release.find("", parsed); ok {
			return pkg.h1, hashing.Hash("zh:" + pkg.sum), nil
		}
	}
	return "", "", publishError(name, version, fs.ErrNotExist)
}
