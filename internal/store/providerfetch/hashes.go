package providerfetch

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
)

// Hashes returns the hashes of a package that is not installed here, such as for another platform, if
// possible without a download, and never keeps it. If this user knows the package by a locked hash, the
// source is not asked. A package that matches no hash may simply not be locked yet, because hashes in a
// lock do not name platforms. But if the source no longer confirms a locked zh, the release is another one:
// a *[getproviders.MismatchError].
func (g *Getter) Hashes(ctx context.Context, want Want) (*Proof, error) {
	if r, ok := g.known(want); ok {
		proof := g.rememberedProof(want, r)
		proof.Matched = want.matched(r.H1, r.Archive)
		if err := g.accept(proof.Authentication); err != nil {
			return nil, err
		}
		return &proof, g.complete(ctx, want, &proof)
	}
	return g.askHashes(ctx, want)
}

func (g *Getter) askHashes(ctx context.Context, want Want) (*Proof, error) {
	pkg, err := g.find(ctx, want)
	if err != nil {
		return nil, err
	}
	j := newJob(g, want, pkg)
	var h1 hashing.Hash
	err = j.proveBeside(ctx, func(ctx context.Context) (err error) {
		h1, err = j.contentHash(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	proof := j.proof(h1)
	if err := j.checkRelease(proof); err != nil {
		return nil, err
	}
	j.record(proof)
	g.recordHashes(want, proof)
	return &proof, nil
}

func (j *job) contentHash(ctx context.Context) (hashing.Hash, error) {
	if j.pkg.ReportsH1() {
		if err := j.awaitProof(ctx); err != nil {
			return "", err
		}
		if h1 := reportedH1(j.auth); h1 != "" {
			return h1, nil
		}
	}
	if dir := j.pkg.Dir(); dir != "" {
		found, err := j.Store.Outside(ctx, dir, "")
		if err != nil {
			return "", fmt.Errorf("%s: %w", j.pkg.Location(), err)
		}
		return found.H1, nil
	}
	var h1 hashing.Hash
	known := func() (bool, error) {
		h1 = j.Store.UnpacksTo(j.archive)
		return h1 != "", nil
	}
	if ok, _ := known(); ok {
		return h1, nil
	}
	err := j.withArchive(ctx, known, func(file *os.File) (err error) {
		h1, err = j.hashArchive(ctx, file)
		return err
	})
	return h1, err
}

// hashArchive reads the archive unless its content is known.
func (j *job) hashArchive(ctx context.Context, file *os.File) (hashing.Hash, error) {
	if h1 := j.Store.UnpacksTo(j.archive); h1 != "" {
		return h1, nil
	}
	done, err := j.slot(ctx, unpacking)
	if err != nil {
		return "", err
	}
	defer done()
	j.tellUnpacking()
	archive, err := providerzip.Open(file, j.bytes, j.want.Provider.Type)
	if err != nil {
		return "", fmt.Errorf("%s: %w", j.pkg.Location(), err)
	}
	h1, err := archive.Hash(ctx)
	if err != nil {
		return "", fmt.Errorf("%s: %w", j.pkg.Location(), err)
	}
	j.Store.RecordArchive(j.archive, h1)
	return h1, nil
}

func (j *job) checkRelease(p Proof) error {
	if p.Matched != "" || p.Archive == "" || len(p.Authentication.Hashes) == 0 && !coversPlatforms(recognized(j.want.Locked)) {
		return nil // a mirror may confirm only the hashes of this package
	}
	var gone []hashing.Hash
	for _, h := range j.want.Locked {
		_, err := hashing.ParseHash(string(h)) // stock tools keep hashes that are not well-formed
		if err == nil && h.Scheme() == "zh" && !slices.Contains(p.Hashes, h) {
			gone = append(gone, h)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return j.mismatch(gone, p.Archive)
}
