package getproviders

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/versions"
)

// FilesystemMirror is the Source of a directory with archives, unpacked packages, or both, at these paths:
//
//	HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip
//	HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/
//
// The host is in Unicode, with ":PORT" if it has one. Case does not matter. An unpacked package has
// precedence over an archive for the same platform. Anything else is ignored.
//
// The mirror's directory, a package and an archive may be symbolic links, but not the directories between
// them. As in stock tools, the mirror confirms no hashes: a lock records only that of the installed
// package.
type FilesystemMirror struct {
	// Dir must exist.
	Dir string
	// InProject says that the directory belongs to the project, as terraform.d/plugins does, so that its
	// packages are delivered but not confirmed. It holds for a path relative to the project, even for a
	// symbolic link to another place.
	InProject bool
}

var _ Source = FilesystemMirror{}

// Versions implements [Source]. The error is a *[MirrorError].
func (m FilesystemMirror) Versions(ctx context.Context, provider addrs.Provider) (Listing, error) {
	found, err := m.packages(ctx, provider)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Listing{}, &MirrorError{Provider: provider, Location: m.Dir, Err: err}
	}
	var all Listing
	for _, p := range found {
		all.Versions = append(all.Versions, Version{Version: p.version, Platforms: []addrs.Platform{p.platform}})
	}
	return mergeListings(all), nil
}

// Package implements [Source]. The error is a *[MirrorError].
func (m FilesystemMirror) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (Package, error) {
	found, err := m.packages(ctx, provider)
	if err == nil {
		err = ErrNotFound
		for _, p := range found {
			if p.version == version && p.platform == platform {
				p.evidence = m.evidence()
				p.sum = sync.OnceValue(p.hash)
				return p, nil
			}
			if p.version == version {
				err = ErrUnsupportedPlatform
			}
		}
	}
	return nil, &MirrorError{Provider: provider, Version: version, Platform: platform, Location: m.Dir, Err: err}
}

// Evidence implements [Source].
func (m FilesystemMirror) Evidence(addrs.Provider) []evidence.Evidence {
	return []evidence.Evidence{m.evidence()}
}

func (m FilesystemMirror) evidence() evidence.Evidence {
	if m.InProject {
		return evidence.Evidence{Kind: evidence.Project, By: m.Dir}
	}
	dir, err := filepath.Abs(m.Dir) // the same path can be another directory in a later run
	if err != nil {
		return evidence.Evidence{}
	}
	return namedMirror(dir)
}

// Local implements [Source].
func (m FilesystemMirror) Local() Source { return m }

// Providers returns the providers with a package in the mirror, sorted by address.
func (m FilesystemMirror) Providers(ctx context.Context) ([]addrs.Provider, error) {
	dirs, err := m.directories("", "", "")
	if err != nil {
		return nil, fmt.Errorf("mirror %q: %w", m.Dir, reasonOf(err))
	}
	var found []addrs.Provider
	for _, dir := range dirs {
		provider, ok := providerOf(dir)
		if !ok || slices.Contains(found, provider) {
			continue
		}
		packages, err := m.packages(ctx, provider)
		if err != nil {
			return nil, fmt.Errorf("mirror %q: %w", m.Dir, err)
		}
		if len(packages) > 0 {
			found = append(found, provider)
		}
	}
	slices.SortFunc(found, func(a, b addrs.Provider) int { return cmp.Compare(a.String(), b.String()) })
	return found, nil
}

func providerOf(dir string) (addrs.Provider, bool) {
	namespaceDir, typ := filepath.Split(dir)
	hostDir, namespace := filepath.Split(filepath.Clean(namespaceDir))
	host, err := addrs.ParseHostname(filepath.Base(hostDir))
	namespace, ok := normalName(namespace)
	typ, alsoOK := normalName(typ)
	return addrs.Provider{Hostname: host, Namespace: namespace, Type: typ}, err == nil && ok && alsoOK
}

func (m FilesystemMirror) packages(ctx context.Context, provider addrs.Provider) ([]localPackage, error) {
	host, _, _ := strings.Cut(provider.String(), "/") // in Unicode
	dirs, err := m.directories(host, provider.Namespace, provider.Type)
	if err != nil {
		return nil, reasonOf(err)
	}
	var unpacked, packed []localPackage
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, reasonOf(err)
		}
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			if version, ok := parseVersion(entry.Name()); ok && entry.IsDir() {
				found, err := unpackedIn(path, version)
				if err != nil {
					return nil, reasonOf(err)
				}
				unpacked = append(unpacked, found...)
			}
			if p, ok := parsePackedName(entry.Name(), provider.Type); ok && isRegular(path) {
				p.path = path
				packed = append(packed, p)
			}
		}
	}
	return append(unpacked, packed...), nil
}

// directories returns the real directories at the components of a path, ignoring case; "" matches all
// names.
func (m FilesystemMirror) directories(names ...string) ([]string, error) {
	dirs := []string{m.Dir}
	for _, name := range names {
		var below []string
		for _, dir := range dirs {
			entries, err := os.ReadDir(dir)
			if err != nil {
				return nil, err
			}
			for _, entry := range entries {
				if entry.IsDir() && (name == "" || strings.EqualFold(entry.Name(), name)) {
					below = append(below, filepath.Join(dir, entry.Name()))
				}
			}
		}
		dirs = below
	}
	return dirs, nil
}

func unpackedIn(dir string, version versions.Version) ([]localPackage, error) {
	entries, err := os.ReadDir(dir)
	var found []localPackage
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		platform, parseErr := addrs.ParsePlatform(entry.Name())
		if parseErr != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			found = append(found, localPackage{path: path, version: version, platform: platform, unpacked: true})
		}
	}
	return found, err
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// parsePackedName parses terraform-provider-TYPE_VERSION_OS_ARCH.zip.
func parsePackedName(name, typ string) (localPackage, bool) {
	rest, ok := strings.CutPrefix(strings.ToLower(name), "terraform-provider-"+typ+"_")
	rest, isZip := strings.CutSuffix(rest, ".zip")
	text, platform, both := strings.Cut(rest, "_")
	if !ok || !isZip || !both {
		return localPackage{}, false
	}
	version, ok := parseVersion(text)
	parsed, err := addrs.ParsePlatform(platform)
	return localPackage{version: version, platform: parsed}, ok && err == nil
}

// reasonOf returns an error without its file name. A missing file is not [ErrNotFound], which is about the
// provider.
func reasonOf(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

type localPackage struct {
	path     string
	version  versions.Version
	platform addrs.Platform
	unpacked bool
	evidence evidence.Evidence
	// sum returns the zh of an archive.
	sum func() hashing.Hash
}

var _ Package = localPackage{}

func (p localPackage) Location() string { return p.path }

// Archive reads the archive at the first call. It is "" if that fails; Download returns the error.
func (p localPackage) Archive() hashing.Hash {
	if p.unpacked {
		return ""
	}
	return p.sum()
}

func (p localPackage) hash() hashing.Hash {
	archive, err := os.Open(p.path)
	if err != nil {
		return ""
	}
	defer archive.Close()
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(archive, providerzip.MaxArchive+1)); err != nil || n > providerzip.MaxArchive {
		return ""
	}
	return archiveHash(sum)
}

func (p localPackage) Dir() string {
	if p.unpacked {
		return p.path
	}
	return ""
}

func (p localPackage) ReportsH1() bool { return false }

// Authenticate confirms no hashes, because a directory states none.
func (p localPackage) Authenticate(context.Context) (Authentication, error) {
	return Authentication{Evidence: p.evidence}, nil
}

func (p localPackage) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	if p.unpacked {
		return fmt.Errorf("%s: %w", p.path, errUnpacked)
	}
	if err := p.copyTo(ctx, file, progress); err != nil {
		return fmt.Errorf("%s: %w", p.path, reasonOf(err))
	}
	return nil
}

var errUnpacked = errors.New("the package is a directory and has no archive")

func (p localPackage) copyTo(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	archive, err := os.Open(p.path)
	if err != nil {
		return err
	}
	defer archive.Close()
	info, err := archive.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() > providerzip.MaxArchive:
		return fmt.Errorf("%w: the archive has more than %d bytes", ErrTooLarge, providerzip.MaxArchive)
	}
	sum := sha256.New()
	d := &httpx.Download{File: file, Hash: sum, Progress: progress, Disk: packagelimits.DiskOf(ctx)}
	// The limit excludes bytes that are appended meanwhile.
	if err := d.Copy(ctxerr.Reader(ctx, io.LimitReader(archive, info.Size())), info.Size()); err != nil {
		return err
	}
	if want := p.Archive(); want != "" {
		return checkSum(p.path, sum, want) // it may have been replaced meanwhile
	}
	return nil
}

// PluginCache reads the plugin cache directory of stock tools (plugin_cache_dir, TF_PLUGIN_CACHE_DIR), a
// [FilesystemMirror] of unpacked packages, and never writes to it. Nothing confirms its content, so a
// package counts only if the lock has its hash, and the cache is not a Source: it has no versions to
// select.
type PluginCache struct {
	// Dir need not exist.
	Dir string
}

// Package returns the unpacked package of a version if the lock has its h1; it can change after it was
// hashed. One with more than 10,000 entries, 4 GiB, or 2 GiB in a file is not used. The error is a
// *[MirrorError], which wraps [ErrNotFound] for anything else in its place: stock tools leave partial
// packages behind when they are interrupted.
func (c PluginCache) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform, locked []hashing.Hash) (Package, error) {
	about := MirrorError{Provider: provider, Version: version, Platform: platform, Location: c.Dir}
	found, err := FilesystemMirror{Dir: c.Dir}.packages(ctx, provider)
	switch {
	case ctx.Err() != nil:
		return nil, about.with(ctx.Err())
	case err != nil:
		return nil, about.with(errors.Join(ErrNotFound, err))
	}
	for _, p := range found {
		if !p.unpacked || p.version != version || p.platform != platform {
			continue
		}
		if h, err := providerzip.HashDir(ctx, p.path); err == nil && slices.Contains(locked, h) {
			return p, nil
		}
		if ctx.Err() != nil {
			return nil, about.with(ctx.Err())
		}
	}
	return nil, about.with(ErrNotFound)
}
