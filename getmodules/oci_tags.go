package getmodules

import (
	"cmp"
	"context"
	"fmt"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
)

// OCIRepository lists the tags of a repository of an OCI registry. Its requests
// are those of the [Fetcher] that made it: same limits, credentials and retries.
// It is safe for concurrent use.
type OCIRepository struct {
	fetcher *Fetcher
	shown   string
	remote  *remote.Repository
}

// OCIRepository opens the repository of req.Package, without sending a request.
// Of the request, Package, FromServer, Origin and FromPackage are used; the tag
// or the digest of the address has to be valid and is not asked for. The error
// is a *[FetchError].
func (f *Fetcher) OCIRepository(req Request) (*OCIRepository, error) {
	shown := req.Package.Redacted()
	if err := checkLocation(req); err != nil {
		return nil, fetchError(shown, err)
	}
	if req.Package.Getter() != "oci" {
		return nil, fetchError(shown, fmt.Errorf("%w: %q is not a repository of an OCI registry", ErrUnsupportedScheme, req.Package.Getter()))
	}
	addr, err := parseOCIAddress(req.Package)
	if err != nil {
		return nil, fetchError(shown, err)
	}
	return &OCIRepository{fetcher: f, shown: shown, remote: f.ociRepository(addr)}, nil
}

// Tags calls page with the tags of the repository, as many at once as the
// registry gives, in the registry's order, those after the tag last. An error of
// page ends it. The error is a *[FetchError], which wraps [ErrTooLarge] after
// 1,000 pages; that no page comes twice is for the caller to check, as package
// versions/ocitags does.
func (r *OCIRepository) Tags(ctx context.Context, last string, page func(tags []string) error) error {
	var refused error
	err := r.fetcher.repeatOCI(ctx, r.remote, func() error {
		// After a failure it goes on where it was.
		err := r.remote.Tags(ctx, last, func(tags []string) error {
			if refused = page(tags); refused == nil && len(tags) > 0 {
				last = tags[len(tags)-1]
			}
			return refused
		})
		if refused != nil {
			return nil // there is nothing to repeat
		}
		return err
	})
	if err = cmp.Or(refused, err); err != nil {
		return fetchError(r.shown, err)
	}
	return nil
}

// Digest asks for the digest of the manifest that a tag leads to now. The error
// is a *[FetchError], and fs.ErrNotExist if there is no such tag.
func (r *OCIRepository) Digest(ctx context.Context, tag string) (string, error) {
	if (registry.Reference{Reference: tag}).ValidateReferenceAsTag() != nil {
		return "", fetchError(r.shown, badOCI("%q is not the name of a tag", tag))
	}
	digest, err := r.digest(ctx, tag)
	if err != nil {
		return "", fetchError(r.shown, err)
	}
	return digest, nil
}

func (r *OCIRepository) digest(ctx context.Context, tag string) (digest string, err error) {
	err = r.fetcher.repeatOCI(ctx, r.remote, func() error {
		found, err := r.remote.Resolve(ctx, tag)
		if err == nil && !ociDigest.MatchString(found.Digest.String()) {
			err = fmt.Errorf("%w: the digest of the tag is %q", ErrOCIContent, found.Digest)
		}
		digest = found.Digest.String()
		return err
	})
	return digest, err
}
