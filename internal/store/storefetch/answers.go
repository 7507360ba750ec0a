package storefetch

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
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/ocistore"
)

// Answers remembers what stores have delivered, and which have failed.
type Answers struct {
	with      *origins.Client
	artifacts singleflight.Memo[storeKey, artifact.Module]
	trees     singleflight.Memo[storeKey, *store.Tree]

	mu sync.Mutex
	// stores are those of all projects. An [ID] is an index into it.
	stores []ocistore.Store
	// failed get no more requests.
	failed map[ID]bool
}

// NewAnswers uses the slots and the cache of a client of origins.
func NewAnswers(with *origins.Client) *Answers {
	return &Answers{with: with, failed: make(map[ID]bool)}
}

type ID int

// ID is the same for equal stores.
func (s *Answers) ID(store ocistore.Store) ID {
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

func (s *Answers) store(id ID) ocistore.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stores[id]
}

type storeKey struct {
	store ID
	name  string
}

func (s *Answers) artifact(ctx context.Context, at ID, statement artifact.Statement) (artifact.Module, error) {
	tag := statement.Tag()
	return s.artifacts.Do(ctx, storeKey{at, tag}, func(ctx context.Context) (artifact.Module, error) {
		done, err := s.with.RequestSlot(ctx)
		if err != nil {
			return artifact.Module{}, err
		}
		defer done()
		return ArtifactOf(ctx, s.store(at), tag)
	})
}

var errOtherEntry = errors.New("its tag points to the artifact of another entry")

func isOfArtifact(err error) bool {
	for _, about := range []error{artifact.ErrManifest, errOtherEntry, oci.ErrLayout, oci.ErrContent, getmodules.ErrTooLarge} {
		if errors.Is(err, about) {
			return true
		}
	}
	return false
}

// ArtifactOf returns what the tag of an entry points to.
func ArtifactOf(ctx context.Context, store ocistore.Store, tag string) (artifact.Module, error) {
	text, err := Manifest(ctx, store, tag)
	if err != nil {
		return artifact.Module{}, err
	}
	found, err := artifact.ParseModule(text)
	if err == nil && found.Statement.Tag() != tag {
		err = errOtherEntry
	}
	return found, err
}

// Presence is what a store has for a lock entry, of a provider for one platform.
type Presence int

const (
	Missing Presence = iota
	// Other is a package of the provider without any hash of the lock.
	Other
	Present
)

// Has requests only the manifest. If the tag points to something else, the artifact is missing. The error
// is about the store.
func Has(ctx context.Context, store ocistore.Store, statement artifact.Statement) (Presence, error) {
	_, err := ArtifactOf(ctx, store, statement.Tag())
	switch {
	case errors.Is(err, fs.ErrNotExist), isOfArtifact(err):
		return Missing, nil
	case err != nil:
		return Missing, err
	}
	return Present, nil
}

func (s *Answers) tree(ctx context.Context, at ID, a artifact.Module, tell func(event.Event)) (*store.Tree, error) {
	return s.trees.Do(ctx, storeKey{at, a.Layer.Digest}, func(ctx context.Context) (*store.Tree, error) {
		done, err := s.with.Slot(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		tell(event.FetchStarted{Package: a.Statement.Package})
		tree, err := s.download(ctx, s.store(at), a)
		if err == nil {
			tell(event.FetchDone{Package: a.Statement.Package, Bytes: a.Layer.Size, Store: s.store(at).Info().Name})
		}
		return tree, err
	})
}

func (s *Answers) download(ctx context.Context, from ocistore.Store, a artifact.Module) (*store.Tree, error) {
	staged := s.with.Cache.Stage()
	archive, err := os.Create(staged + ".archive")
	if err != nil {
		return nil, err
	}
	defer func() { // a later clean-up removes leftovers
		_ = archive.Close()
		_ = os.Remove(archive.Name())
		_ = os.RemoveAll(staged)
	}()
	repository, err := from.Repository(ctx, addrs.Provider{})
	if err != nil {
		return nil, err
	}
	if err := oci.Download(ctx, repository, a.Layer, archive, nil); err != nil {
		return nil, err
	}
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if _, err := s.with.Fetcher.ExtractArchive(ctx, archive, "zip", staged); err != nil {
		return nil, err
	}
	tree, err := store.ReadTree(ctx, staged)
	if err != nil {
		return nil, err
	}
	return tree, s.with.Cache.Publish(staged, tree.T1())
}

func (s *Answers) hasFailed(at ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed[at]
}

func (s *Answers) fail(at ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.failed[at]
	s.failed[at] = true
	return !known
}
