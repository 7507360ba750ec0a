package stores

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"reflect"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/ocilayout"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/versions"
)

// Store is the root package's PackageStore.
type Store interface {
	Name() string
	IsLocal() bool
	Manifest(ctx context.Context, tag string) ([]byte, error)
	CheckTrust(manifest []byte) error
	Blob(ctx context.Context, digest string, size int64, file *os.File) error
	ProviderIndex(ctx context.Context, provider addrs.Provider, version versions.Version) ([]byte, error)
	ProviderManifest(ctx context.Context, provider addrs.Provider, digest string, size int64) ([]byte, error)
	ProviderBlob(ctx context.Context, provider addrs.Provider, digest string, size int64, file *os.File, progress func(done, total int64)) error
}

// ErrDeliversOnly says that a store does not confirm entries.
var ErrDeliversOnly = errors.New("it delivers packages, but confirms no entries")

// Session is what the stores of a session have, as far as it is known.
type Session struct {
	with      *origins.Session
	artifacts singleflight.Memo[storeKey, Artifact]
	trees     singleflight.Memo[storeKey, *pkgtree.Tree]

	mu sync.Mutex
	// stores are those of all projects.
	stores []Store
	// failed are the stores that could not be used. They are not asked again.
	failed map[ID]bool
}

// NewSession returns a session without stores. It works in the slots of another session and
// extracts to its cache.
func NewSession(with *origins.Session) *Session {
	return &Session{with: with, failed: make(map[ID]bool)}
}

// ID is the number of a store in a session.
type ID int

// ID returns the number of a store, which is the same for the same store.
func (s *Session) ID(store Store) ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, known := range s.stores {
		if reflect.ValueOf(known).Comparable() && known == store {
			return ID(i)
		}
	}
	s.stores = append(s.stores, store)
	return ID(len(s.stores) - 1)
}

// store returns the store with a number.
func (s *Session) store(id ID) Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stores[id]
}

// Wait waits for the end of fetches that were cancelled.
func (s *Session) Wait() { s.trees.Wait() }

// Artifact is an artifact of a store.
type Artifact struct {
	modpkg.Artifact
	// Distrust is why the artifact does not confirm its entry; nil if it does.
	Distrust error
}

// storeKey is a tag or a digest in a store.
type storeKey struct {
	store ID
	name  string
}

// artifact returns the artifact with a statement in a store.
func (s *Session) artifact(ctx context.Context, at ID, statement modpkg.Statement) (Artifact, error) {
	tag := statement.Tag()
	return s.artifacts.Do(ctx, storeKey{at, tag}, func(ctx context.Context) (Artifact, error) {
		done, err := s.with.Slot(ctx)
		if err != nil {
			return Artifact{}, err
		}
		defer done()
		return ArtifactOf(ctx, s.store(at), tag)
	})
}

// errOtherEntry says that the tag of an entry points to the artifact of another one.
var errOtherEntry = errors.New("its tag points to the artifact of another entry")

// isOfArtifact reports whether an error is about one artifact and not about its store.
func isOfArtifact(err error) bool {
	for _, about := range []error{modpkg.ErrManifest, errOtherEntry, ocilayout.ErrLayout, getmodules.ErrOCIContent, getmodules.ErrTooLarge} {
		if errors.Is(err, about) {
			return true
		}
	}
	return false
}

// ArtifactOf returns the artifact to which the tag of an entry points in a store.
func ArtifactOf(ctx context.Context, store Store, tag string) (Artifact, error) {
	text, err := store.Manifest(ctx, tag)
	if err != nil {
		return Artifact{}, err
	}
	found, err := modpkg.ParseManifest(text)
	if err == nil && found.Statement.Tag() != tag {
		err = errOtherEntry
	}
	if err != nil {
		return Artifact{Artifact: found}, err
	}
	return Artifact{found, store.CheckTrust(text)}, nil
}

// Has reports whether a store has the artifact with a statement, and why that does not
// confirm the entry: distrust is nil if it does. It asks for the manifest alone. A store
// that has something else under its tag does not have it; err is about the store.
func Has(ctx context.Context, store Store, statement modpkg.Statement) (has bool, distrust, err error) {
	found, err := ArtifactOf(ctx, store, statement.Tag())
	if errors.Is(err, fs.ErrNotExist) || isOfArtifact(err) {
		return false, nil, nil
	}
	return err == nil, found.Distrust, err
}

// tree returns the tree of an artifact's package, which it fetches into the cache.
func (s *Session) tree(ctx context.Context, at ID, a modpkg.Artifact, tell func(origins.Event)) (*pkgtree.Tree, error) {
	return s.trees.Do(ctx, storeKey{at, a.Layer}, func(ctx context.Context) (*pkgtree.Tree, error) {
		done, err := s.with.Slot(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		tell(origins.Event{Kind: origins.FetchStarted, Package: a.Statement.Package})
		tree, err := s.download(ctx, s.store(at), a)
		if err == nil {
			tell(origins.Event{Kind: origins.FetchDone, Package: a.Statement.Package, Done: a.Size, Store: s.store(at).Name()})
		}
		return tree, err
	})
}

// download writes the layer of an artifact to the stage, extracts it, hashes the files
// and publishes them in the cache under their hash, whichever that is.
func (s *Session) download(ctx context.Context, store Store, a modpkg.Artifact) (*pkgtree.Tree, error) {
	staged := s.with.Cache.Stage()
	archive, err := os.Create(staged + ".archive")
	if err != nil {
		return nil, err
	}
	defer func() { // a later clean-up removes what is left
		_ = archive.Close()
		_ = os.Remove(archive.Name())
		_ = os.RemoveAll(staged)
	}()
	if err := store.Blob(ctx, a.Layer, a.Size, archive); err != nil {
		return nil, err
	}
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if _, err := s.with.Fetcher.ExtractArchive(ctx, archive, "zip", staged); err != nil {
		return nil, err
	}
	tree, err := pkgtree.Read(staged)
	if err != nil {
		return nil, err
	}
	return tree, s.with.Cache.Publish(staged, tree.T1())
}

// hasFailed reports whether a store could not be used.
func (s *Session) hasFailed(at ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed[at]
}

// fail notes that a store could not be used, and reports whether that is new.
func (s *Session) fail(at ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.failed[at]
	s.failed[at] = true
	return !known
}
