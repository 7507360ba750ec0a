package ocitags

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/versions"
)

const (
	// maxPages and maxTags limit a list of tags; real repositories have far fewer. Each
	// page takes a request.
	maxPages = 1_000
	maxTags  = 100_000
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

// ListError is returned if a list of tags could not be read completely.
type ListError struct{ Err error }

func (e *ListError) Error() string { return fmt.Sprintf("list the tags of the repository: %v", e.Err) }

// Unwrap returns the cause: an error of this package or of the TagLister.
func (e *ListError) Unwrap() error { return e.Err }

// TagLister lists the tags of one repository, page by page, beginning after the tag last.
// getmodules.OCIRepository and oras-go's *remote.Repository implement it.
type TagLister interface {
	Tags(ctx context.Context, last string, page func(tags []string) error) error
}

// List returns the versions among the tags of a repository, in the registry's order. Ref is
// the tag; Revision is empty. The error is a *[ListError].
func List(ctx context.Context, repo TagLister) ([]versions.Candidate, error) {
	l := listing{seen: map[string]bool{}}
	if err := repo.Tags(ctx, "", l.add); err != nil {
		return nil, &ListError{err}
	}
	return l.found, nil
}

type listing struct {
	pages, tags int
	seen        map[string]bool
	found       []versions.Candidate
}

// add adds a page of tags.
func (l *listing) add(tags []string) error {
	l.pages++
	l.tags += len(tags)
	switch {
	case l.pages > maxPages:
		return fmt.Errorf("%w: more than %d pages", ErrTooManyTags, maxPages)
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
		if version, ok := parse(tag); ok {
			l.found = append(l.found, versions.Candidate{Version: version, Ref: tag})
		}
	}
	if repeated > 0 && repeated == len(tags) {
		return ErrRepeatedPage
	}
	return nil
}

// semver is the grammar of semver.org with an optional "v", and with "_" instead of "+".
var semver = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)` +
		`(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
		`(_[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)
})

// parse returns the version of a tag, and whether the tag is a version.
func parse(tag string) (versions.Version, bool) {
	if len(tag) > maxTagBytes || !semver().MatchString(tag) {
		return versions.Version{}, false
	}
	v, err := versions.Parse(strings.Replace(tag, "_", "+", 1))
	return v, err == nil // numbers that are too large are an error
}

// Same returns the candidates with the same version as selected, including selected itself.
// The package comment describes its use.
func Same(offered []versions.Candidate, selected versions.Candidate) []versions.Candidate {
	var same []versions.Candidate
	for _, c := range offered {
		if c.Version == selected.Version {
			same = append(same, c)
		}
	}
	return same
}
