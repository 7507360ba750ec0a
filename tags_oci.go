package cotter

import (
	"context"

	"github.com/cotterpin/cotter/versions"
	"github.com/cotterpin/cotter/versions/ocitags"
)

// offeredOCI lists the versions among the tags of an OCI repository, once in a
// run.
func (r *run) offeredOCI(ctx context.Context, n *node) ([]versions.Candidate, error) {
	key := n.repositoryKey()
	offered, err := r.ociTags.get(key, func() ([]versions.Candidate, error) {
		repository, err := r.fetcher.OCIRepository(key.request())
		if err != nil {
			return nil, err
		}
		done, err := r.listing(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		return ocitags.List(ctx, repository)
	})
	return offered, n.failIf(err)
}

// settleOCI makes sure that all tags of the selected version lead to the same
// artifact. A listing does not tell; where there is one tag only, which is the
// usual case, the question does not arise.
func (r *run) settleOCI(ctx context.Context, n *node, offered []versions.Candidate, selected versions.Candidate, want versions.Constraints) (versions.Candidate, error) {
	same := ocitags.Same(offered, selected)
	if len(same) == 1 {
		return selected, nil
	}
	repository, err := r.fetcher.OCIRepository(n.repositoryKey().request())
	if err != nil {
		return versions.Candidate{}, err
	}
	done, err := r.onlineSlot(ctx)
	if err != nil {
		return versions.Candidate{}, err
	}
	defer done()
	for i := range same {
		if same[i].Revision, err = repository.Digest(ctx, same[i].Ref); err != nil {
			return versions.Candidate{}, err
		}
	}
	return versions.Select(same, want)
}

// artifact is an artifact of an OCI repository, and what it was fetched by.
type artifact struct {
	key fetchKey
	got *fetched
}

// fetchArtifact fetches an artifact whose digest is not known yet. Tags tell only
// when they are asked whether they mean the same, and most repositories are
// called by one tag: so the first is fetched right away, and the others wait for
// it and ask for their digests then.
func (r *run) fetchArtifact(ctx context.Context, key fetchKey, at location, fetch func(fetchKey) (*fetched, error)) (*fetched, error) {
	first, err := r.artifacts.get(key.pkg.Repository(), func() (artifact, error) {
		got, err := fetch(key)
		return artifact{key, got}, err
	})
	if first.key == key {
		return first.got, err
	}
	if ctx.Err() != nil || r.req.Offline {
		return fetch(key)
	}
	reference, err := r.referenceOf(ctx, key, at, "")
	if err != nil {
		return fetch(key) // which says what is wrong
	}
	if first.got != nil && first.got.resolved.Revision() == reference.Revision {
		return first.got, nil
	}
	key.revision = reference.Revision
	return fetch(key)
}
