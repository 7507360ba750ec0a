package storefetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/ocistore"
)

type Stores struct {
	*Answers
	// Order is that in which the stores are tried.
	Order []ID
	// Offline skips stores that are not on this machine.
	Offline bool
	Check   func(artifact.Statement, *store.Tree) error
	// OnEvent may be called by several goroutines at once.
	OnEvent func(event.Event)
}

// Key is equal for the same stores in the same order.
func (s *Stores) Key() string { return fmt.Sprint(s.Order) }

func (s *Stores) warn(path addrs.Module, text string) {
	s.OnEvent(event.Warning{Path: path, Message: text})
}

// Confirm returns the evidence of the first trusted store with the artifact of an entry, or zero. A store
// that fails, or has something else under the tag, causes a warning.
func (s *Stores) Confirm(ctx context.Context, of callsource.Source, entry lockfile.Module) evidence.Evidence {
	at, _, ok := s.find(ctx, of, entry, func(info ocistore.Info) bool { return info.Trusted })
	if !ok {
		return evidence.Evidence{}
	}
	return EvidenceOf(s.store(at))
}

// EvidenceOf is zero for a store that only delivers.
func EvidenceOf(store ocistore.Store) evidence.Evidence {
	if info := store.Info(); info.Trusted {
		return evidence.Evidence{Kind: evidence.Mirror, By: info.Name}
	}
	return evidence.Evidence{}
}

// Fetch fetches an entry's package into the cache and reports whether it did. Failures are warnings; the
// caller then asks the origin.
func (s *Stores) Fetch(ctx context.Context, of callsource.Source, entry lockfile.Module) bool {
	at, found, ok := s.find(ctx, of, entry, func(ocistore.Info) bool { return true })
	if !ok {
		return false
	}
	err := s.FetchArtifact(ctx, at, found)
	if err != nil && ctx.Err() == nil {
		s.warn(of.Path, fmt.Sprintf("its package in %s cannot be used: %s", s.store(at).Info().Name, err))
	}
	return err == nil
}

// FetchArtifact fetches a package into the cache and compares it with its statement.
func (s *Stores) FetchArtifact(ctx context.Context, at ID, found artifact.Module) error {
	tree, err := s.tree(ctx, at, found, s.OnEvent)
	if err != nil {
		return err
	}
	return s.Check(found.Statement, tree)
}

// firstArtifact returns the artifact of the first statement that a store has.
func (s *Stores) firstArtifact(ctx context.Context, in ID, statements []artifact.Statement) (found artifact.Module, err error) {
	for _, statement := range statements {
		if found, err = s.artifact(ctx, in, statement); !errors.Is(err, fs.ErrNotExist) {
			return found, err
		}
	}
	return found, err
}

func (s *Stores) find(ctx context.Context, of callsource.Source, entry lockfile.Module, good func(ocistore.Info) bool) (ID, artifact.Module, bool) {
	pkg := entry.Package.Package
	if of.FromPackage && pkg.Getter() == "file" {
		return 0, artifact.Module{}, false // its origin refuses it
	}
	statements := artifact.StatementsFor(entry, of.LockAddress())
	for _, i := range s.Order {
		info := s.store(i).Info()
		if s.Offline && !info.Local || s.hasFailed(i) || !good(info) {
			continue
		}
		found, err := s.firstArtifact(ctx, i, statements)
		switch {
		case err == nil:
			return i, found, true
		case ctx.Err() != nil:
			return 0, artifact.Module{}, false
		case errors.Is(err, fs.ErrNotExist):
		case isOfArtifact(err):
			s.warn(of.Path, fmt.Sprintf("its package in %s cannot be used: %s", info.Name, err))
		case s.fail(i):
			s.warn(nil, fmt.Sprintf("%s cannot be used, so the origins are asked: %s", info.Name, err))
		}
	}
	return 0, artifact.Module{}, false
}
