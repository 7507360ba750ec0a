package getmodules

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
)

// maxTags bounds the number of tags. It is several times the number in the largest
// repositories.
const maxTags = 200_000

// Tag is a tag of a repository and the revision that it currently points to.
type Tag struct {
	// Name is the tag's name; for git, without "refs/tags/".
	Name string
	// Revision is a git commit, or "" if the listing does not contain it.
	Revision string
}

// Tags returns the tags of the repository of req.Package, sorted by name. It does not use the
// fields Dir, Revision and Progress of the request, nor the ref in the address. The error is a
// *[FetchError].
func (f *Fetcher) Tags(ctx context.Context, req Request) ([]Tag, error) {
	tags, err := f.tags(ctx, req)
	if err != nil {
		return nil, fetchError(req.Package.Redacted(), err)
	}
	return tags, nil
}

func (f *Fetcher) tags(ctx context.Context, req Request) ([]Tag, error) {
	if err := checkLocation(req); err != nil {
		return nil, err
	}
	if req.Package.Getter() != "git" {
		return nil, fmt.Errorf("%w: %q; only git repositories have tags to choose from", ErrUnsupportedScheme, req.Package.Getter())
	}
	return f.gitTags(ctx, req)
}

// gitTags lists only refs/tags/. With protocol version 2 the cost depends on the number of
// tags, not on the number of branches.
func (f *Fetcher) gitTags(ctx context.Context, req Request) ([]Tag, error) {
	addr, err := parseGitAddress(req)
	if err != nil {
		return nil, err
	}
	refs, err := f.gitRefs(ctx, req, addr, func(refs git.Refs) bool { return len(refs) > 0 }, git.Tags)
	if err != nil {
		return nil, err
	}
	if len(refs) > maxTags {
		return nil, fmt.Errorf("%w: the repository has more than %d tags", ErrTooLarge, maxTags)
	}
	var tags []Tag
	for _, full := range slices.Sorted(maps.Keys(refs)) {
		if name, ok := strings.CutPrefix(full, git.Tags); ok {
			tags = append(tags, Tag{Name: name, Revision: refs[full].Commit})
		}
	}
	return tags, nil
}
