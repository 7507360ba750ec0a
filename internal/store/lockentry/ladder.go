package lockentry

import (
	"context"

	"github.com/cotterpin/cotter/installer/evidence"
)

// Lookup returns a package from one of the places that may have it. ok is false if the place does
// not have it. A package that differs from the lock is an error, or is treated as absent and replaced.
type Lookup[P any] func(ctx context.Context) (pkg P, ok bool, err error)

// Ladder has the steps for one package, of a module or a provider. Steps that are nil are skipped.
//
//  1. An earlier run of this user has evidence for the entry, or a mirror or bundle that the user
//     named gives it. The origin is asked for what the evidence does not cover. The bytes may then
//     come from any place that has them: each place compares them with the hashes of the lock.
//  2. Otherwise the origin gives the evidence and delivers the bytes.
//
// Bytes without evidence are never used, wherever they are.
type Ladder[P any] struct {
	Remembered func() evidence.Evidence
	Mirrors    func(context.Context) evidence.Evidence
	Accepts    func(evidence.Evidence) bool
	// Check asks the origin for what the evidence of an earlier run or a mirror does not cover.
	Check func(context.Context, evidence.Evidence) error
	// AtHand are the places that may have the bytes, the cheapest first.
	AtHand  []Lookup[P]
	Deliver func(context.Context, evidence.Evidence) (P, error)
	Origin  func(context.Context) (P, evidence.Evidence, error)
}

// Confirm returns evidence that is enough and at hand without the origin, or the zero Evidence.
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

func (l Ladder[P]) Climb(ctx context.Context) (P, evidence.Evidence, error) {
	var none P
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
