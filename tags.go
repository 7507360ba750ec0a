package cotter

import (
	"context"
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/versions"
	"github.com/cotterpin/cotter/versions/gittags"
)

// repositoryKey is what makes two listings of tags the same.
type repositoryKey struct {
	repository  addrs.ModulePackage
	fromPackage bool
}

func (n *node) repositoryKey() repositoryKey { return repositoryKey{n.repository, n.untrusted()} }

func (k repositoryKey) request() getmodules.Request {
	return getmodules.Request{Package: k.repository, FromPackage: k.fromPackage}
}

// selectTag selects the newest version of a repository that is wanted.
func (r *run) selectTag(ctx context.Context, n *node, want versions.Constraints) (versions.Candidate, error) {
	offered, err := r.offeredTags(ctx, n)
	if err != nil {
		return versions.Candidate{}, err
	}
	selected, err := r.selectOld(n, offered, want)
	if err == nil && n.repository.Getter() == "oci" {
		selected, err = r.settleOCI(ctx, n, offered, selected, want)
	}
	if err != nil {
		return versions.Candidate{}, n.failVersion(fmt.Errorf("%s: %w", n.repository.Redacted(), err))
	}
	return selected, nil
}

// offeredTags lists the versions among the tags of a repository, whose tags are
// listed once in a run.
func (r *run) offeredTags(ctx context.Context, n *node) ([]versions.Candidate, error) {
	if n.repository.Getter() == "oci" {
		return r.offeredOCI(ctx, n)
	}
	key := n.repositoryKey()
	tags, err := r.tags.get(key, func() ([]getmodules.Tag, error) {
		done, err := r.listing(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		return r.fetcher.Tags(ctx, r.prepared(key.request()))
	})
	if err != nil {
		return nil, n.fail(err)
	}
	return candidates(tags, n.source.(addrs.ModuleSourceRemote)), nil
}

func candidates(tags []getmodules.Tag, source addrs.ModuleSourceRemote) []versions.Candidate {
	list := make([]gittags.Tag, len(tags))
	for i, tag := range tags {
		list[i] = gittags.Tag(tag)
	}
	return gittags.Candidates(list, source.Subdir)
}
