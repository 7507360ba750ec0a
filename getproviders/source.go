package getproviders

import (
	"context"
	"os"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/versions"
)

// Source is where provider packages come from: the registries of the providers' hosts, or a
// mirror. Implementations must be safe for concurrent use.
type Source interface {
	// Versions lists the versions of a provider that the source has. If it does not have the
	// provider, the error wraps [ErrNotFound].
	Versions(ctx context.Context, provider addrs.Provider) (Listing, error)
	// Package finds the package of a version for a platform. It does not transfer the archive. If
	// the source does not have the package, the error wraps [ErrNotFound] or
	// [ErrUnsupportedPlatform].
	Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (Package, error)
	// Evidence returns the evidence that packages of a provider from this source can have: each
	// one that Authenticate can return for them. It sends no requests. What an earlier run
	// found out counts only if its evidence has the [evidence.Evidence.Identity] of one of these.
	Evidence(provider addrs.Provider) []evidence.Evidence
	// Local returns the part of the source that can be read without requests. It is a source
	// without providers if there is no such part.
	Local() Source
}

// Listing lists the versions of a provider in a source.
type Listing struct {
	Versions []Version
	// Warnings are the source's messages for the user.
	Warnings []string
}

// Numbers returns only the version numbers.
func (l Listing) Numbers() []versions.Version {
	numbers := make([]versions.Version, len(l.Versions))
	for i, v := range l.Versions {
		numbers[i] = v.Version
	}
	return numbers
}

// Version is one version in a Listing.
type Version struct {
	Version versions.Version
	// Platforms are the platforms with a package. It is nil if the source does not list them.
	Platforms []addrs.Platform
	// Incompatible reports whether stock tools cannot run the version, according to the plugin
	// protocol versions that the source lists for it. It can be selected nevertheless.
	Incompatible bool
}

// UsableOn reports whether there is a package for a platform that stock tools can run, as far as
// the source lists this.
func (v Version) UsableOn(platform addrs.Platform) bool {
	return !v.Incompatible && (v.Platforms == nil || slices.Contains(v.Platforms, platform))
}

// Package is the package of a provider's version for one platform in a source. Its content is not
// proven until [Package.Authenticate] and [Package.Download] have returned without an error.
type Package interface {
	// Location returns the name of the package in messages: a URL without credentials, or a path.
	Location() string
	// Archive returns the hash of the archive that the source announces, or that of an archive on
	// this machine, with the scheme zh. It returns "" if the hash is not known without a transfer,
	// or if the package is a directory.
	Archive() hashing.Hash
	// Dir returns the directory of a package that is already unpacked, or "" for an archive.
	Dir() string
	// ReportsH1 reports whether Authenticate will return the h1 of the package in
	// Authentication.Own, so that it is known without a download.
	ReportsH1() bool
	// Authenticate gets the source's proof of the package: for a registry, the document of sums
	// and its signature. It may run at the same time as Download.
	Authenticate(ctx context.Context) (Authentication, error)
	// Download writes the archive to file, from its beginning. If the archive's hash differs from
	// Archive, the error is a *[MismatchError]. progress is called with the number of bytes that
	// have arrived and the total, or -1 if it is not known. progress may be nil.
	Download(ctx context.Context, file *os.File, progress func(done, total int64)) error
}

// Authentication is the source's proof of a package.
type Authentication struct {
	// Evidence is who confirms the package. If it is zero, nothing does, and the source only
	// delivers the package.
	Evidence evidence.Evidence
	// KeyID identifies the key of a signature, in upper-case hexadecimal, and Key is the name of
	// the key's owner, if it has one. Both are "" if no signature was checked.
	KeyID, Key string
	// Hashes are the hashes that the source confirms and that a lock records, including those of
	// other platforms. The package documentation lists them.
	Hashes []hashing.Hash
	// Own are those of Hashes that belong to this package and not to other platforms.
	Own []hashing.Hash
	// Announced are hashes of which the package must have at least one: its archive one with the
	// scheme zh, or its tree one with the scheme h1. A lock also records those that the package
	// has, but not the others. It is empty if the source lists none.
	Announced []hashing.Hash
	// Weak describes which signature is weak and why, if there is no better one; otherwise it is
	// "". The caller decides whether to accept it.
	Weak string
	// Warnings are messages for the user, for example that a key has expired.
	Warnings []string
}
