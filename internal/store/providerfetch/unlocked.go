package providerfetch

import (
	"context"
	"slices"

	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
)

// GetUnlocked is [Getter.Get] for a package that has no hash in the lock, which has some of other platforms. The
// source must confirm it now: what the project brings, or an earlier run has learned, is not enough. If it no longer
// confirms a locked zh, the release is another one: a *[getproviders.MismatchError].
func (g *Getter) GetUnlocked(ctx context.Context, want Want) (*Got, error) {
	locked := want.Locked
	want.Locked = nil
	pkg, err := g.find(ctx, want)
	if err != nil {
		return nil, err
	}
	j := newJob(g, want, pkg)
	got, err := j.run(ctx)
	if err != nil {
		return nil, err
	}
	if err := j.checkSource(); err != nil {
		return nil, err
	}
	j.want.Locked = locked
	if err := j.checkRelease(got.Proof); err != nil {
		return nil, err
	}
	g.recordHashes(want, got.Proof)
	return got, nil
}

// checkSource refuses what the project brings. The job is proven.
func (j *job) checkSource() error {
	switch j.auth.Evidence.Kind {
	case evidence.Signature, evidence.Origin, evidence.Mirror:
		return nil
	}
	return &getproviders.UnconfirmedError{Location: j.pkg.Location(), Evidence: j.auth.Evidence}
}

// Unknown returns the locked h1 and zh hashes that are in none of the proofs.
func Unknown(locked []hashing.Hash, of []*Proof) []hashing.Hash {
	return slices.DeleteFunc(recognized(locked), func(h hashing.Hash) bool {
		return slices.ContainsFunc(of, func(p *Proof) bool {
			return slices.Contains(p.Hashes, h) || slices.Contains(p.Authentication.Hashes, h) || h == p.Archive
		})
	})
}
