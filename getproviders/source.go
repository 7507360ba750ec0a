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

// Source is where provider packages come from: registries, or a mirror. It must be safe for concurrent use.
type Source interface {
	// Versions lists the versions that the source has. Without the provider, the error wraps [ErrNotFound].
	Versions(ctx context.Context, provider addrs.Provider) (Listing, error)
	// Package finds the package of a version, without transferring the archive. If there is none, the error
	// wraps [ErrNotFound] or [ErrUnsupportedPlatform].
	Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (Package, error)
	// Evidence returns each evidence that Authenticate can return for packages of a provider, without
	// requests. What an earlier run found out counts only with the [evidence.Evidence.Identity] of one of
	// these.
	Evidence(provider addrs.Provider) []evidence.Evidence
	// Local returns the part of the source that can be read without requests, or one without providers.
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
	// Platforms have a package; nil if the source does not list them.
	Platforms []addrs.Platform
	// Incompatible says that stock tools cannot run the version, by the plugin protocols that the source
	// lists. It can still be selected.
	Incompatible bool
}

// UsableOn reports whether stock tools can run the version on a platform, as far as the source says.
func (v Version) UsableOn(platform addrs.Platform) bool {
	return !v.Incompatible && (v.Platforms == nil || slices.Contains(v.Platforms, platform))
}

// Package is a provider's package for one platform. Its content is not proven until [Package.Authenticate]
// and [Package.Download] have succeeded.
type Package interface {
	// Location names the package in messages: a URL without credentials, or a path.
	Location() string
	// Archive returns the zh of the archive, as announced or computed on this machine; "" for a directory,
	// or if it is not known without a transfer.
	Archive() hashing.Hash
	// Dir returns the directory of an unpacked package, or "".
	Dir() string
	// ReportsH1 reports whether Authenticate will return the package's h1 in [Authentication.Own].
	ReportsH1() bool
	// Authenticate gets the source's proof, such as a registry's signed sums. It may run at the same time
	// as Download.
	Authenticate(ctx context.Context) (Authentication, error)
	// Download writes the archive to file, from its beginning. A hash other than Archive is a
	// *[MismatchError]. progress, which may be nil, gets the number of bytes so far and the total, or -1.
	Download(ctx context.Context, file *os.File, progress func(done, total int64)) error
}

// Authentication is the source's proof of a package.
type Authentication struct {
	// Evidence is who confirms the package; zero if the source only delivers it.
	Evidence evidence.Evidence
	// KeyID identifies the key of a signature, in upper-case hexadecimal; Key is the name of its owner, if
	// any. Both are "" if no signature was checked.
	KeyID, Key string
	// Hashes are what the source confirms and a lock records, also of other platforms; see the package
	// comment.
	Hashes []hashing.Hash
	// Own are those of Hashes that belong to this package.
	Own []hashing.Hash
	// Announced are hashes of which the package must have one: its archive a zh, or its tree an h1. A lock
	// also records those that it has. It is empty if the source lists none.
	Announced []hashing.Hash
	// Weak says which signature is weak and why, if there is no better one. The caller decides.
	Weak string
	// Warnings are messages for the user, such as of an expired key.
	Warnings []string
}
