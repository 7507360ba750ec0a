package origins

import (
	"context"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/versions"
)

// Versions returns nil if the source names one revision.
func (o *Origins) Versions(ctx context.Context, from callsource.Source) ([]versions.Candidate, error) {
	if source, ok := from.Address.(addrs.ModuleSourceRegistry); ok {
		if err := o.check(ctx, from); err != nil {
			return nil, err
		}
		return o.listings.do(ctx, o, listing{source.Package, callerOf(from)}, func(ctx context.Context) ([]versions.Candidate, error) {
			done, err := o.querySlot(ctx, addrs.ModulePackage{}, ErrCannotList)
			if err != nil {
				return nil, err
			}
			defer done()
			return o.Registry.ModuleVersions(limited(ctx, from), source.Package)
		})
	}
	if from.HasConstraint {
		return o.TagVersions(ctx, from)
	}
	return nil, nil
}

// TagVersions lists the versions among a repository's tags.
func (o *Origins) TagVersions(ctx context.Context, from callsource.Source) ([]versions.Candidate, error) {
	if err := o.check(ctx, from); err != nil {
		return nil, err
	}
	if from.Repository.Getter() == "oci" {
		return o.ociVersions(ctx, from)
	}
	key := repositoryOf(from)
	tags, err := o.tags.do(ctx, o, key, func(ctx context.Context) ([]getmodules.Tag, error) {
		done, err := o.querySlot(ctx, key.pkg, ErrCannotList)
		if err != nil {
			return nil, err
		}
		defer done()
		listed, err := o.Fetcher.Tags(ctx, o.withRun(requestFor(from)))
		if err == nil {
			err = packagelimits.DiskOf(ctx).List(len(listed))
		}
		if err != nil {
			return nil, err
		}
		return listed, nil
	})
	if err != nil {
		return nil, err
	}
	list := make([]versions.GitTag, len(tags))
	for i, tag := range tags {
		list[i] = versions.GitTag(tag)
	}
	return versions.FromGitTags(list, from.RemoteSubdir()), nil
}

func (o *Origins) ociVersions(ctx context.Context, from callsource.Source) ([]versions.Candidate, error) {
	key := repositoryOf(from)
	return o.ociTags.do(ctx, o, key, func(ctx context.Context) ([]versions.Candidate, error) {
		repository, err := o.Fetcher.OCIRepository(ctx, requestFor(from))
		if err != nil {
			return nil, err
		}
		done, err := o.querySlot(ctx, key.pkg, ErrCannotList)
		if err != nil {
			return nil, err
		}
		defer done()
		return oci.Versions(ctx, repository)
	})
}

// SelectedTag checks that all tags of the selected version of an OCI repository point to the same artifact,
// and returns the one to use. It requests their digests, unless there is only one tag, as usual.
func (o *Origins) SelectedTag(ctx context.Context, from callsource.Source, offered []versions.Candidate, selected versions.Candidate, want versions.Constraints) (versions.Candidate, error) {
	same := versions.SameVersion(offered, selected)
	if len(same) == 1 {
		return selected, nil
	}
	repository, err := o.Fetcher.OCIRepository(ctx, requestFor(from))
	if err != nil {
		return versions.Candidate{}, err
	}
	done, err := o.querySlot(ctx, from.Repository, errNotAtHand)
	if err != nil {
		return versions.Candidate{}, err
	}
	defer done()
	ctx = o.Rules.ForModules(ctx)
	for i := range same {
		found, err := oci.Resolve(ctx, repository, same[i].Ref)
		if err != nil {
			return versions.Candidate{}, err
		}
		same[i].Revision = found.Digest.String()
	}
	return versions.Select(same, want)
}
