package lockentry

import (
	"context"

	"github.com/cotterpin/cotter/installer/evidence"
)

// Lookup returns a package from one of the places that may have it. ok is false if the place does
// not have it. A package that differs from the lock is an error, or is treated as absent and replaced.
type Lookup[P any] func(ctx context.Context) (pkg P, ok bool, err error)

// Ladder has the steps for one package. Steps that are nil are skipped.
type Ladder[P any] struct {
	// Brought returns the package that the project has brought. It returns the evidence of an
	// earlier run if there is any, and [evidence.Project] otherwise.
	Brought func(context.Context) (pkg P, e evidence.Evidence, ok bool, err error)
	// Remembered returns the evidence of an earlier run.
	Remembered func() evidence.Evidence
	// Mirrors asks the mirrors and bundles that the user named for evidence.
	Mirrors func(context.Context) evidence.Evidence
	// Accepts decides whether evidence is enough for the run.
	Accepts func(evidence.Evidence) bool
	// Check asks the origin for what the evidence of an earlier run does not cover.
	Check func(context.Context, evidence.Evidence) error
	// AtHand are the places that may have the bytes, the cheapest first.
	AtHand []Lookup[P]
	// Deliver gets the bytes from the origin for a package with evidence.
	Deliver func(context.Context, evidence.Evidence) (P, error)
	// Origin asks the origin for evidence, and gets the bytes from it.
	Origin func(context.Context) (P, evidence.Evidence, error)
}

// Confirm returns the evidence that is at hand without the origin: that of an earlier run, or of
// a mirror. It returns the zero Evidence if there is none that is enough.
func (l Ladder[P]) Confirm(ctx context.Context) evidence.Evidence {
	if l.Remembered != nil {
		if e := l.Remembered(); l.Accepts(e) && !e.IsZero() {
			return e
		}
	}
	if l.Mirrors != nil {
		if e := l.Mirrors(ctx); l.Accepts(e) && !e.IsZero() {
			return e
		}
	}
	return evidence.Evidence{}
}

// Climb returns the package and the evidence for it.
func (l Ladder[P]) Climb(ctx context.Context) (P, evidence.Evidence, error) {
	var none P
	if l.Brought != nil {
		if pkg, e, ok, err := l.Brought(ctx); ok || err != nil {
			return pkg, e, err
		}
	}
	e := l.Confirm(ctx)
	if e.IsZero() && !l.Accepts(e) {
		return l.Origin(ctx)
	}
	if l.Check != nil {
		if err := l.Check(ctx, e); err != nil {
			return none, evidence.Evidence{}, err
		}
	}
	for _, find := range l.AtHand {
		if pkg, ok, err := find(ctx); ok || err != nil {
			return pkg, e, err
		}
	}
	pkg, err := l.Deliver(ctx, e)
	return pkg, e, err
}
