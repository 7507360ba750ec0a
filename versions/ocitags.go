package versions

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

const (
	// Real repositories have far fewer tags. Each page takes a request.
	maxTagPages = 1_000
	maxTags     = 100_000
	// maxTagBytes is the limit of a tag in the OCI distribution specification.
	maxTagBytes = 128
)

var (
	// ErrTooManyTags says that a repository has more tags, or pages of tags, than the limit.
	ErrTooManyTags = errors.New("the repository has too many tags")
	// ErrRepeatedPage says that a registry lists the same tags again, possibly without end.
	ErrRepeatedPage = errors.New("the registry lists the same tags again")
)

// OCITagsError is returned if a list of tags could not be read completely.
type OCITagsError struct{ Err error }

func (e *OCITagsError) Error() string {
	return fmt.Sprintf("list the tags of the repository: %v", e.Err)
}

func (e *OCITagsError) Unwrap() error { return e.Err }

// OCITagLister lists the tags of one repository, page by page, beginning after the tag last.
// getmodules.OCIRepository and oras-go's *remote.Repository implement it.
type OCITagLister interface {
	Tags(ctx context.Context, last string, page func(tags []string) error) error
}

// FromOCITags returns the versions among the tags of a repository in an OCI registry, in the registry's
// order. Ref is the tag; Revision is empty, because the list has no digests. Tags are versions as for
// [FromGitTags], but the first "_" stands for "+", which a tag cannot contain: "1.2.0_build.5" is
// 1.2.0+build.5.
//
// The error is an *[OCITagsError], also for more than 1,000 pages or 100,000 tags, and for a page whose
// tags were all listed before.
func FromOCITags(ctx context.Context, repo OCITagLister) ([]Candidate, error) {
	l := ociListing{seen: map[string]bool{}}
	if err := repo.Tags(ctx, "", l.add); err != nil {
		return nil, &OCITagsError{err}
	}
	return l.found, nil
}

type ociListing struct {
	pages, tags int
	seen        map[string]bool
	found       []Candidate
}

func (l *ociListing) add(tags []string) error {
	l.pages++
	l.tags += len(tags)
	switch {
	case l.pages > maxTagPages:
		return fmt.Errorf("%w: more than %d pages", ErrTooManyTags, maxTagPages)
	case l.tags > maxTags:
		return fmt.Errorf("%w: more than %d", ErrTooManyTags, maxTags)
	}
	repeated := 0
	for _, tag := range tags {
		if len(tag) > maxTagBytes {
			continue
		}
		if l.seen[tag] {
			repeated++
			continue
		}
		l.seen[tag] = true
		if version, ok := parseOCITag(tag); ok {
			l.found = append(l.found, Candidate{Version: version, Ref: tag})
		}
	}
	if repeated > 0 && repeated == len(tags) {
		return ErrRepeatedPage
	}
	return nil
}

func parseOCITag(tag string) (Version, bool) {
	if strings.Contains(tag, "+") {
		return Version{}, false
	}
	return parseTag(strings.Replace(tag, "_", "+", 1))
}

// SameVersion returns the candidates with the same version as selected, including selected itself: a
// version can have several tags, such as "1.2.0" and "v1.2.0". To verify that they have the same digest,
// callers set their digests as Revision, and call [Select] again with these.
func SameVersion(offered []Candidate, selected Candidate) []Candidate {
	var same []Candidate
	for _, c := range offered {
		if c.Version == selected.Version {
			same = append(same, c)
		}
	}
	return same
}
