package ocistore

import (
	"context"
	"errors"
	"io"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

// Repository reads a repository of OCI artifacts. Implementations must be safe for concurrent use.
// An error must wrap fs.ErrNotExist if the repository does not have what was asked for, and should
// wrap getmodules.ErrAuthentication if a registry demands other credentials.
type Repository interface {
	// Resolve returns the descriptor of the manifest or index that a tag or a digest
	// ("sha256:...") points to. If its field Data is set, it is the content, and Fetch is not
	// called for it.
	Resolve(ctx context.Context, reference string) (ocispec.Descriptor, error)
	// Fetch opens a manifest or a blob. The descriptor has the media type, the digest and the
	// size; its other fields may be empty.
	Fetch(ctx context.Context, target ocispec.Descriptor) (io.ReadCloser, error)
	// Tags calls page with the tags of the repository, with any number per call. They begin
	// after the tag last; "" means from the first. If page returns an error, Tags stops and
	// returns it.
	Tags(ctx context.Context, last string, page func(tags []string) error) error
}

// Opener opens repositories of OCI registries. *getmodules.Fetcher is an Opener. Implementations
// must be safe for concurrent use.
type Opener interface {
	// OpenOCI opens a repository, such as "team/network". The host has a port if the address
	// has one.
	OpenOCI(ctx context.Context, host, repository string) (Repository, error)
}

// Store has packages of locks, in addition to their origins. They are OCI artifacts in the form
// that OpenTofu installs. *bundle.Bundle and *mirror.Mirror are stores. Implementations must be safe
// for concurrent use.
//
// Every package from a store is compared with the hashes of the lock, like all other packages. A
// store that is trusted also confirms entries, as an origin does: it confirms an entry if it has an
// artifact with exactly the data of the entry (source, version, package and hashes); then
// no origin is asked. Other stores only deliver packages, for entries that are confirmed in another
// way.
type Store interface {
	// Info describes the store. It is called often and always returns the same.
	Info() Info
	// Repository opens the repository of a provider's packages, which has an index for each
	// version, as in OpenTofu's provider mirrors. For the zero Provider it opens the repository
	// of the modules' packages. The package comment describes their tags.
	Repository(ctx context.Context, provider addrs.Provider) (Repository, error)
}

// Entry describes the artifact that a store has for one entry of a lock.
type Entry struct {
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

// Info describes a [Store].
type Info struct {
	// Name is the store's name in messages, such as "the bundle FILE". It also identifies the
	// store in records of what it has confirmed.
	Name string
	// Local reports whether the store can be read in offline mode.
	Local bool
	// Trusted reports whether the user has named the store: on the command line, in the
	// environment or in the user's own settings. It then confirms entries like an origin, so
	// that everyone who can write to it can have any entry confirmed. Other stores deliver
	// packages, which are compared with the lock, and confirm nothing. That is right for a
	// store that a repository names.
	Trusted bool
}

// ErrDeliversOnly means that a Store confirms no entries, because it is not trusted. It is not a
// failure: the origins are asked instead.
var ErrDeliversOnly = errors.New("it delivers packages, but confirms no entries")
