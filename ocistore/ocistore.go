package ocistore

import (
	"context"
	"errors"
	"io"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

// Repository reads a repository of OCI artifacts. It must be safe for concurrent use. An error must wrap
// fs.ErrNotExist for what the repository does not have, and should wrap getmodules.ErrAuthentication if a
// registry demands other credentials.
type Repository interface {
	// Resolve returns the descriptor of the manifest or index that a tag or a digest ("sha256:...") points
	// to. If its field Data is set, Fetch is not called for it.
	Resolve(ctx context.Context, reference string) (ocispec.Descriptor, error)
	// Fetch opens a manifest or a blob by media type, digest and size; other fields may be empty.
	Fetch(ctx context.Context, target ocispec.Descriptor) (io.ReadCloser, error)
	// Tags calls page with tags after last ("" means from the first), any number at a time, until page
	// returns an error, which it returns.
	Tags(ctx context.Context, last string, page func(tags []string) error) error
}

// Opener opens repositories of OCI registries, as *getmodules.Fetcher does. It must be safe for concurrent
// use.
type Opener interface {
	// OpenOCI opens a repository, such as "team/network", at HOST or HOST:PORT.
	OpenOCI(ctx context.Context, host, repository string) (Repository, error)
}

// Store has packages of locks, in addition to their origins, as OCI artifacts in the form that OpenTofu
// installs. *bundle.Bundle and *mirror.Mirror are stores. It must be safe for concurrent use.
//
// Every package is compared with the hashes of the lock. A store that is trusted also confirms entries:
// those for which it has an artifact with exactly their data (source, version, package and hashes); then no
// origin is asked.
type Store interface {
	// Info describes the store. It is called often, and always returns the same.
	Info() Info
	// Repository opens the repository of a provider, or for the zero Provider that of the modules'
	// packages. The package comment describes their tags.
	Repository(ctx context.Context, provider addrs.Provider) (Repository, error)
}

// Entry describes the artifact that a store has for one entry of a lock.
type Entry struct {
	// These are copied from the entry. For a provider, Source is its address, Package is empty, and Hashes
	// are those of the package for Platform.
	Source, Version, Package string
	Hashes                   []hashing.Hash
	// Platform is zero for modules.
	Platform addrs.Platform
	Tag      string
	// Err says why the artifact does not match its entry.
	Err error
}

// Info describes a [Store].
type Info struct {
	// Name is the name in messages, such as "the bundle FILE", and in records of what the store has
	// confirmed.
	Name string
	// Local reports whether the store can be read in offline mode.
	Local bool
	// Trusted says that the user has named the store: on the command line, in the environment or in
	// settings. It then confirms entries like an origin, so everyone who can write to it can have any
	// confirmed. Other stores, such as those that a repository names, only deliver packages.
	Trusted bool
}

// ErrDeliversOnly means that a Store is not trusted. It is not a failure: the origins are asked instead.
var ErrDeliversOnly = errors.New("it delivers packages, but confirms no entries")
