package providerfetch

import (
	"context"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
)

// complete sets the hashes of a package that was not got from the source, so that the lock is the same as
// if it were, if [Getter.Complete] is set. Unknown hashes are asked for, which fails only if ctx ends:
// other errors are in Proof.Incomplete, because the package is proven. The source is not asked for a
// package of an imported bundle, because there may be no network, nor for one that is only known to be
// installed.
func (g *Getter) complete(ctx context.Context, want Want, proof *Proof) error {
	if !g.Complete {
		return nil
	}
	if known, ok := g.Store.Hashes(g.sourceOf(want), want.statement()); ok && known[0] == proof.H1 {
		proof.Hashes = known
		return nil
	}
	if kind := proof.Authentication.Evidence.Kind; kind == evidence.Imported || kind == evidence.Installed {
		return nil
	}
	now, err := g.askHashes(ctx, want)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		proof.Incomplete = err
	case now.H1 == proof.H1: // otherwise the release was published again
		proof.Hashes = now.Hashes
	}
	return nil
}

// recordHashes records the hashes for complete. Without requests, only a part of the source was asked.
func (g *Getter) recordHashes(want Want, p Proof) {
	if g.Offline {
		return
	}
	g.Store.RecordHashes(g.sourceOf(want), want.statement(), p.Hashes)
}

// sourceOf names the source in records: others confirm other hashes.
func (g *Getter) sourceOf(want Want) string {
	var names []string
	for _, e := range g.Source.Evidence(want.Provider) {
		names = append(names, e.Kind.String()+" "+e.By)
	}
	return strings.Join(names, ", ")
}

func (p *Proof) ownHash() { p.Hashes = []hashing.Hash{p.H1} }
