package providerfetch

import (
	"context"
	"slices"
	"time"

	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store"
)

// remembered returns what an earlier run learned, if it fits and its evidence would be given and be enough
// now. Otherwise the evidence of the result is zero.
func (g *Getter) remembered(want Want, fits func(store.Release) bool) (found store.Release) {
	if !g.Rule.Memos {
		return found
	}
	memos := &evidencerules.Memos{Named: slices.Concat(g.Source.Evidence(want.Provider), g.Stores)}
	memos.Recorded = func(record string) (time.Time, bool) {
		r, ok := g.Store.Release(record)
		if !ok || !g.Rule.AcceptsProvider(r.Evidence) || !fits(r) {
			return time.Time{}, false
		}
		found = r
		return r.Evidence.Since, true
	}
	memos.Find(want.statement())
	return found
}

// known is remembered, for a package whose content or archive has a hash in the lock.
func (g *Getter) known(want Want) (store.Release, bool) {
	r := g.remembered(want, func(r store.Release) bool { return r.H1 != "" && want.matched(r.H1, r.Archive) != "" })
	return r, !r.Evidence.IsZero()
}

func (g *Getter) rememberedProof(want Want, r store.Release) Proof {
	return Proof{
		Archive: r.Archive, H1: r.H1, Hashes: []hashing.Hash{r.H1}, Matched: g.Store.Matches(r.H1, want.Locked),
		Authentication: authentication(r),
	}
}

func authentication(r store.Release) getproviders.Authentication {
	return getproviders.Authentication{Evidence: r.Evidence, KeyID: r.KeyID, Key: r.Key, Weak: r.Weak, Hashes: r.Hashes}
}

// Evidence returns who confirms a package with a hash in the lock, as far as known without requests: in an
// earlier run, or now for a package that the project brings.
func (g *Getter) Evidence(ctx context.Context, want Want) evidence.Evidence {
	matches := func(r store.Release) bool { return g.Store.Matches(r.H1, want.Locked) != "" }
	if r := g.remembered(want, matches); !r.Evidence.IsZero() {
		return r.Evidence
	}
	if e := g.believed(ctx, want).Evidence; !e.IsZero() {
		return e
	}
	pkg, err := g.Source.Local().Package(ctx, want.Provider, want.Version, want.Platform)
	if err != nil {
		return evidence.Evidence{}
	}
	auth, err := pkg.Authenticate(ctx)
	if err != nil || auth.Evidence.Kind != evidence.Project {
		return evidence.Evidence{} // the content of another mirror must be compared first
	}
	return auth.Evidence
}

type rememberedPackage struct {
	getproviders.Package
	auth getproviders.Authentication
}

func (p rememberedPackage) Authenticate(context.Context) (getproviders.Authentication, error) {
	return p.auth, nil
}
