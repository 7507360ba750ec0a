package cotter

import (
	"context"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/versions"
	"github.com/cotterpin/cotter/versions/ocitags"
)

// ociOpener is a Fetcher that opens repositories of OCI registries.
// *getmodules.Fetcher is one.
type ociOpener interface {
	// OCIRepository opens the repository of req.Package; it sends nothing yet.
	OCIRepository(req getmodules.Request) (*getmodules.OCIRepository, error)
}

var _ ociOpener = (*getmodules.Fetcher)(nil)

// offeredOCI lists the versions among the tags of an OCI repository, once in a
// run.
func (r *run) offeredOCI(ctx context.Context, n *node) ([]versions.Candidate, error) {
	key := n.repositoryKey()
	offered, err := r.ociTags.get(key, func() ([]versions.Candidate, error) {
		repository, err := r.openOCI(key)
		if err != nil {
			return nil, err
		}
		done, err := r.onlineSlot(ctx)
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
	repository, err := r.openOCI(n.repositoryKey())
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

func (r *run) openOCI(key repositoryKey) (*getmodules.OCIRepository, error) {
	opener, ok := r.fetcher.(ociOpener)
	if !ok {
		return nil, errNoTags
	}
	return opener.OCIRepository(key.request())
}
