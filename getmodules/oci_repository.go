package getmodules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
)

const (
	// maxOCIMetadata bounds a manifest and a page of tags, by what registries
	// promise to accept.
	maxOCIMetadata = 4 << 20
	// maxOCITagPages bounds the pages of a list of tags.
	maxOCITagPages = 1_000
	// ociTagPage is how many tags are asked for at once. Some registries return
	// an error for more.
	ociTagPage = 1_000
)

// OCIRepository is a repository of an OCI registry, opened by
// [Fetcher.OCIRepository] or by another implementation of its caller's interface.
// Implementations must be safe for concurrent use.
type OCIRepository interface {
	// Tags calls page with the tags of the repository, as many at once as the
	// registry returns, in the registry's order, beginning after the tag last.
	// An error of page ends it.
	Tags(ctx context.Context, last string, page func(tags []string) error) error
	// Digest returns the digest of the manifest that a tag points to now. The
	// error wraps fs.ErrNotExist if there is no such tag.
	Digest(ctx context.Context, tag string) (string, error)
}

// OCIRepository opens the repository of req.Package, without sending a request.
// Of the request, Package, FromServer, Origin and FromPackage are used; the tag
// or the digest of the address must be valid and is not asked for. The error is a
// *[FetchError], and so are those of the repository.
//
// The requests of the repository are like those of Fetch: same limits, credentials
// and retries. Tags fails with [ErrTooLarge] after 1,000 pages. It does not check
// that no page is repeated; package versions/ocitags does.
func (f *Fetcher) OCIRepository(req Request) (OCIRepository, error) {
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
	return &shownRepository{f.ociRepository(addr), shown}, nil
}

// shownRepository is an OCIRepository whose errors name the address of a package.
type shownRepository struct {
	*ociRepository
	shown string
}

func (r *shownRepository) Tags(ctx context.Context, last string, page func(tags []string) error) error {
	if err := r.tags(ctx, last, page); err != nil {
		return fetchError(r.shown, err)
	}
	return nil
}

func (r *shownRepository) Digest(ctx context.Context, tag string) (string, error) {
	digest, err := r.digest(ctx, tag)
	if err != nil {
		return "", fetchError(r.shown, err)
	}
	return digest, nil
}

// ociRepository is the client for a repository.
type ociRepository struct {
	*remote.Repository
	fetcher *Fetcher
}

// ociRepository makes the client for a repository. It sends nothing yet.
func (f *Fetcher) ociRepository(a *ociAddress) *ociRepository {
	ref := registry.Reference{Registry: a.host, Repository: a.repository}
	toRegistry, toToken := f.httpClient(defaultStallTimeout), f.httpClient(defaultStallTimeout)
	toToken.MaxRedirects = 0
	transport := &ociTransport{
		registry: toRegistry,
		token:    toToken,
		// Not always the host of the address: that of Docker Hub is an alias.
		at:  &url.URL{Scheme: "https", Host: ref.Host()},
		api: "/v2/" + a.repository + "/",
	}
	return &ociRepository{fetcher: f, Repository: &remote.Repository{
		Reference: ref,
		Client: &auth.Client{
			// It has no cookie jar, and sees no redirects.
			Client:     &http.Client{Transport: transport},
			Credential: f.ociCredential(ref),
			Cache:      auth.NewCache(), // of this repository alone
		},
		TagListPageSize:  ociTagPage,
		TagListMaxPages:  maxOCITagPages,
		MaxMetadataBytes: maxOCIMetadata,
	}}
}

// repeat runs an operation of the registry client, again after a failure that may
// be temporary.
func (r *ociRepository) repeat(ctx context.Context, run func() error) error {
	err := r.fetcher.retry().Do(ctx, r.Reference.Host(), func() error { return ociError(run()) })
	if token, ok := errors.AsType[*tokenServiceError](err); ok {
		return &tokenServiceError{token.service, httpError(token.err)}
	}
	return httpError(err)
}

func (r *ociRepository) tags(ctx context.Context, last string, page func(tags []string) error) error {
	var refused error
	err := r.repeat(ctx, func() error {
		// A retry continues after the last page.
		err := r.Repository.Tags(ctx, last, func(tags []string) error {
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
	return cmp.Or(refused, err)
}

func (r *ociRepository) digest(ctx context.Context, tag string) (digest string, err error) {
	if (registry.Reference{Reference: tag}).ValidateReferenceAsTag() != nil {
		return "", badOCI("%q is not the name of a tag", tag)
	}
	err = r.repeat(ctx, func() error {
		found, err := r.Resolve(ctx, tag)
		if err == nil && !ociDigest.MatchString(found.Digest.String()) {
			err = fmt.Errorf("%w: the digest of the tag is %q", ErrOCIContent, found.Digest)
		}
		digest = found.Digest.String()
		return err
	})
	return digest, err
}

// OCICredential is sent to an OCI registry or its token service. Username and
// Password, an AccessToken, or a RefreshToken may be set; the zero value means that
// there is none. It is printed as "REDACTED", and is never part of an error or a
// result.
type OCICredential struct {
	Username, Password string
	// RefreshToken is exchanged for an access token (OAuth 2), which Docker
	// calls an identity token.
	RefreshToken string
	// AccessToken is sent to the registry itself, as a bearer token.
	AccessToken string
}

// Format prints "REDACTED" for every verb of package fmt.
func (OCICredential) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte("REDACTED")) // fmt reports errors of the writer
}

// MarshalText returns "REDACTED", for JSON and structured logs.
func (OCICredential) MarshalText() ([]byte, error) { return []byte("REDACTED"), nil }

// OCICredentials finds the credential for a repository of a registry. The host
// has its port if the address has one. It is called at most a few times for each
// fetch, and only if the registry demands authentication. An error ends the fetch;
// if there is no credential, it returns the zero value and no error.
type OCICredentials func(ctx context.Context, host, repository string) (OCICredential, error)

// ociCredential adapts OCICredentials to the registry client. It has nothing for
// other hosts than the registry's.
func (f *Fetcher) ociCredential(ref registry.Reference) auth.CredentialFunc {
	return func(ctx context.Context, host string) (auth.Credential, error) {
		if f.OCICredentials == nil || host != ref.Host() {
			return auth.EmptyCredential, nil
		}
		found, err := f.OCICredentials(ctx, ref.Registry, ref.Repository)
		if err != nil {
			return auth.EmptyCredential, &ociCredentialError{err}
		}
		return auth.Credential(found), nil
	}
}
