package getproviders

import (
	"context"
	"os"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/versions"
)

// Source is where provider packages come from: the registries of the providers'
// hosts, or a mirror. Implementations must be safe for concurrent use.
type Source interface {
	// Versions lists the versions of a provider that the source has. A provider that
	// it does not have is an error over [ErrNotFound].
	Versions(ctx context.Context, provider addrs.Provider) (Listing, error)
	// Package finds the package of a version for a platform. It does not transfer the
	// archive. A package that the source does not have is an error over [ErrNotFound]
	// or [ErrUnsupportedPlatform].
	Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (Package, error)
}

// Listing is what a source has of a provider.
type Listing struct {
	Versions []Version
	// Warnings are the source's texts for the user.
	Warnings []string
}

// Numbers returns the versions alone.
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
	// Platforms are those with a package; nil if the source does not say.
	Platforms []addrs.Platform
	// Incompatible says that stock tools cannot run it, by the versions of the plugin
	// protocol that the source lists for it. It can be selected all the same.
	Incompatible bool
}

// UsableOn reports whether there is a package for a platform that stock tools can run,
// as far as the source says.
func (v Version) UsableOn(platform addrs.Platform) bool {
	return !v.Incompatible && (v.Platforms == nil || slices.Contains(v.Platforms, platform))
}

// Package is the package of a provider's version for one platform, as its source has
// it. Nothing of it is proven before [Package.Authenticate] and [Package.Download]
// have returned without an error.
type Package interface {
	// Location names the package in messages: a URL without credentials, or a path.
	Location() string
	// Archive is the hash of the archive that the source announces, with the scheme
	// zh; "" if the source announces none, or if the package is a directory.
	Archive() hashing.Hash
	// Dir is the directory of a package that is unpacked already; "" for an archive.
	Dir() string
	// ReportsH1 reports whether Authenticate is going to return the h1 of the package in
	// Authentication.Own, so that nothing has to be downloaded to know it.
	ReportsH1() bool
	// Authenticate gets what the source has to prove the package: for a registry the
	// document of sums and its signature. It may run at the same time as Download.
	Authenticate(ctx context.Context) (Authentication, error)
	// Download writes the archive to file, from its beginning, and fails with a
	// *[MismatchError] if it has another hash than Archive. progress, which
	// may be nil, is told the bytes that have arrived and the total, or -1.
	Download(ctx context.Context, file *os.File, progress func(done, total int64)) error
}

// Authentication is how a package was proven by its source.
type Authentication struct {
	// Signed says that a signature was checked, and KeyID by which key: in upper-case
	// hexadecimal. Key is the name of its owner, if the key has one.
	Signed     bool
	KeyID, Key string
	// Hashes are those that the source vouches for and that a lock records, those of
	// other platforms too: see the package comment for which these are.
	Hashes []hashing.Hash
	// Own are those of Hashes that are of this package, and not of other platforms.
	Own []hashing.Hash
	// Announced are hashes of which the package must have at least one: its archive
	// one with the scheme zh, or its tree one with the scheme h1. Those that it has
	// are recorded too; the others are not. It is empty if the source lists none.
	Announced []hashing.Hash
	// Weak is which signature is weak and why, if there is no better one; otherwise "".
	// Who asks decides what to do about that.
	Weak string
	// Warnings are texts for the user, such as that a key has expired.
	Warnings []string
}
