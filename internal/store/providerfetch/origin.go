package providerfetch

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/store"
)

type Confirmed struct {
	// Location is where the source has the package for the wanted platform.
	Evidence evidence.Evidence
	Location string
	// Unknown are the locked h1 and zh hashes of no package of the release, in the order of the lock.
	Unknown []hashing.Hash
}

// CheckLocked asks the source for the release of a lock entry, under [Getter.Rule], and looks for each
// locked h1 and zh among what it confirms. An h1 that it does not report must be that of a package of the
// release, first of the wanted platform, then of the others, which need not exist. Archives of unknown
// content are downloaded for that, and not kept. A missing release is an error. Offline, what this user's earlier runs
// have learned from the source counts: it is [ErrNotAtHand] unless that has all hashes.
func (g *Getter) CheckLocked(ctx context.Context, want Want, others []addrs.Platform) (*Confirmed, error) {
	if g.Offline {
		return g.recall(want, others)
	}
	found := &Confirmed{Unknown: recognized(want.Locked)}
	var missing error
	for _, platform := range append([]addrs.Platform{want.Platform}, others...) {
		if len(found.Unknown) == 0 && found.Location != "" {
			break
		}
		want.Platform = platform
		pkg, err := g.Source.Package(ctx, want.Provider, want.Version, platform)
		switch {
		case errors.Is(err, getproviders.ErrNotFound), errors.Is(err, getproviders.ErrUnsupportedPlatform):
			if missing == nil {
				missing = err
			}
			continue
		case err != nil:
			return nil, err
		}
		if err := found.add(ctx, newJob(g, want, pkg)); err != nil {
			return nil, err
		}
	}
	if found.Location == "" {
		return nil, missing
	}
	return found, nil
}

// recall compares a lock entry with the releases that this user has got, which have the hashes that the source had signed
// or reported.
func (g *Getter) recall(want Want, others []addrs.Platform) (*Confirmed, error) {
	found := &Confirmed{Unknown: recognized(want.Locked)}
	for _, platform := range append([]addrs.Platform{want.Platform}, others...) {
		want.Platform = platform
		if known := g.remembered(want, anyRelease); !known.Evidence.IsZero() {
			found.Evidence = known.Evidence
			found.know(append(known.Hashes, known.H1, known.Archive)...)
		}
	}
	if found.Evidence.IsZero() || len(found.Unknown) > 0 {
		return nil, ErrNotAtHand
	}
	return found, nil
}

func anyRelease(store.Release) bool { return true }

func (c *Confirmed) add(ctx context.Context, j *job) error {
	var err error
	if j.auth, err = j.pkg.Authenticate(ctx); err == nil {
		err = cmp.Or(j.checkProof(), j.checkSource())
	}
	if err != nil {
		return err
	}
	close(j.proven)
	if c.Location == "" {
		c.Evidence, c.Location = j.auth.Evidence, j.pkg.Location()
	}
	c.know(j.auth.Hashes...)
	c.know(j.auth.Announced...)
	c.know(j.archive)
	if len(c.Unknown) == 0 || !hasScheme(c.Unknown, "h1") && j.archive != "" {
		return nil
	}
	h1, err := j.contentHash(ctx)
	if err != nil {
		return err
	}
	proof := j.proof(h1)
	if err := j.checkReported(proof); err != nil {
		return err
	}
	c.know(h1, j.archive)
	j.record(proof)
	return nil
}

func (c *Confirmed) know(hashes ...hashing.Hash) {
	c.Unknown = slices.DeleteFunc(c.Unknown, func(h hashing.Hash) bool { return slices.Contains(hashes, h) })
}
