package versions

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

const (
	// maxTagPages and maxTags limit a list of tags; real repositories have far fewer. Each
	// page takes a request.
	maxTagPages = 1_000
	maxTags     = 100_000
	// maxTagBytes is the limit of a tag in the OCI distribution specification.
	maxTagBytes = 128
)

var (
	// ErrTooManyTags says that a repository has more tags, or more pages of tags, than the
	// limit.
	ErrTooManyTags = errors.New("the repository has too many tags")
	// ErrRepeatedPage says that a registry lists the same tags again, possibly without end.
	ErrRepeatedPage = errors.New("the registry lists the same tags again")
)

// OCITagsError is returned if a list of tags could not be read completely.
type OCITagsError struct{ Err error }

func (e *OCITagsError) Error() string {
	return fmt.Sprintf("list the tags of the repository: %v", e.Err)
}

// Unwrap returns the cause: an error of this package or of the [OCITagLister].
func (e *OCITagsError) Unwrap() error { return e.Err }

// OCITagLister lists the tags of one repository, page by page, beginning after the tag last.
// getmodules.OCIRepository and oras-go's *remote.Repository implement it.
type OCITagLister interface {
	Tags(ctx context.Context, last string, page func(tags []string) error) error
}

// FromOCITags returns the versions among the tags of a repository in an OCI registry, in the
// registry's order. Ref is the tag; Revision is empty, because the list has no digests. The error
// is an *[OCITagsError].
//
// Tags are versions as for [FromGitTags]. A tag cannot contain "+", so the first "_" stands for
// it: "1.2.0_build.5" is the version 1.2.0+build.5. Tags of more than 128 bytes are invalid.
//
// More than 1,000 pages or 100,000 tags are an error. So is a page whose tags were all listed before.
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
	if len(tag) > maxTagBytes || strings.Contains(tag, "+") {
		return Version{}, false
	}
	return parseTag(strings.Replace(tag, "_", "+", 1))
}

// SameVersion returns the candidates with the same version as selected, including selected itself.
//
// One version can have several tags in an OCI registry, such as "1.2.0" and "v1.2.0", and [Select]
// selects the one that sorts first. To verify that the others have the same digest, callers set the
// digests of all candidates of the version as Revision, and call Select again with these. This takes
// one request for each tag, and only if a version has more than one.
func SameVersion(offered []Candidate, selected Candidate) []Candidate {
	var same []Candidate
	for _, c := range offered {
		if c.Version == selected.Version {
			same = append(same, c)
		}
	}
	return same
}
