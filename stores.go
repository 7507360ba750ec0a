package cotter

import (
	"context"
	"os"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/artifact"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/stores"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// PackageStore has packages of locks, in addition to their origins. They are OCI artifacts
// in the form that OpenTofu installs. *bundle.Bundle and *mirror.Mirror are stores.
// Implementations must be safe for concurrent use.
//
// Every package from a store is compared with the hashes of the lock, like all other
// packages. A store can also confirm entries, as an origin does. It confirms an entry if it
// has an artifact with exactly the data of the entry (source, version, package and hashes);
// then no origin is asked. CheckTrust decides whether it may. CheckTrust must refuse if the
// store was named by a repository rather than by the user: on the command line, in the
// environment or in the user's own settings. Otherwise the repository's author could make
// the store confirm any lock. A store that is refused only delivers packages, for entries
// that are confirmed in another way.
type PackageStore interface {
	// Name is the store's name in messages.
	Name() string
	// IsLocal reports whether the store can be read in offline mode.
	IsLocal() bool
	// Manifest returns the manifest that a tag points to. The error wraps fs.ErrNotExist if
	// the tag does not exist.
	Manifest(ctx context.Context, tag string) ([]byte, error)
	// CheckTrust returns nil if the artifact with this manifest, as returned by Manifest,
	// confirms the lock entry that it contains. Otherwise the error says why not, in the
	// same words for all artifacts with the same defect. It is ErrDeliversOnly if the store
	// confirms no entries.
	CheckTrust(manifest []byte) error
	// Evidence returns the evidence that an artifact is which CheckTrust accepts: that of a
	// mirror, with a signature or without. It is zero for a store that only delivers. It
	// does not depend on the artifact, and names the store, or the keys that decide.
	Evidence() evidence.Evidence
	// Blob writes a blob to the start of a file, and checks its digest and size.
	Blob(ctx context.Context, digest string, size int64, file *os.File) error
	// ProviderIndex returns the index of the packages that the store has for a version of a
	// provider. The error wraps fs.ErrNotExist if it has none.
	ProviderIndex(ctx context.Context, provider addrs.Provider, version versions.Version) ([]byte, error)
	// ProviderManifest returns a manifest listed in such an index, by its digest and size.
	// CheckTrust accepts it too.
	ProviderManifest(ctx context.Context, provider addrs.Provider, digest string, size int64) ([]byte, error)
	// ProviderBlob is like Blob, for the archive of a provider. progress, which may be nil,
	// is called with the number of bytes that have arrived and the total.
	ProviderBlob(ctx context.Context, provider addrs.Provider, digest string, size int64, file *os.File, progress func(done, total int64)) error
}

// ErrDeliversOnly means that a [PackageStore] does not confirm entries. It is not a
// failure: the origins are asked instead.
var ErrDeliversOnly = stores.ErrDeliversOnly

// ListedStore is a PackageStore that can list its contents.
type ListedStore interface {
	PackageStore
	// Tags returns the tags of all manifests, in any order.
	Tags(ctx context.Context) ([]string, error)
}

// StoreEntry describes the artifact that a store has for one entry of a lock.
type StoreEntry struct {
	// Source, Version, Package and Hashes are copied from the entry. For a provider, Source
	// is its address, Package is empty, and Hashes are those of the package for Platform.
	Source, Version, Package string
	Hashes                   []hashing.Hash
	// Platform is zero for modules.
	Platform addrs.Platform
	// Tag is the tag of the artifact.
	Tag string
	// Err says why the artifact does not match its entry; nil if it does.
	Err error
}

// StoreHas reports whether a store has the artifact of an entry. distrust says why the
// artifact does not confirm the entry; it is nil if it does. Only the manifest is
// requested. If the store has something else under the artifact's tag, has is false. err
// reports failures of the store itself.
func StoreHas(ctx context.Context, store PackageStore, entry lockfile.Module) (has bool, distrust, err error) {
	return stores.Has(ctx, store, artifact.StatementOf(entry))
}

// StoredProvider says what a store has for a locked provider and a platform.
type StoredProvider int

const (
	// StoredNot means that the store has nothing for the platform.
	StoredNot = StoredProvider(stores.ProviderMissing)
	// StoredOther means that the store has a package that matches no hash in the lock.
	StoredOther = StoredProvider(stores.ProviderOther)
	// StoredLocked means that the store has a package that matches a hash in the lock.
	StoredLocked = StoredProvider(stores.ProviderLocked)
)

// StoreHasProvider returns what a store has for a locked provider and a platform. Only the
// index and the manifest are requested. distrust says why the artifact does not confirm the
// entry; it is nil if it does. err reports failures of the store itself.
func StoreHasProvider(ctx context.Context, store PackageStore, entry lockfile.Provider, platform addrs.Platform) (has StoredProvider, distrust, err error) {
	state, distrust, err := stores.HasProvider(ctx, store, entry, platform)
	return StoredProvider(state), distrust, err
}

// MissingPlatformError says that a store has the requested version of a provider, but not
// for the requested platform.
type MissingPlatformError = getproviders.MissingPlatformError

// checkStatement compares a tree with the hashes of a statement.
func checkStatement(s artifact.Statement, tree *store.Tree) error {
	mismatch := &HashMismatchError{Package: s.Package}
	for _, scheme := range []string{"h1", "t1"} {
		if want, got := s.Hash(scheme), tree.Hash(scheme); want != "" && got != want {
			mismatch.Want, mismatch.Got = append(mismatch.Want, want), append(mismatch.Got, got)
		}
	}
	if mismatch.Want != nil {
		return mismatch
	}
	return nil
}
