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

	"github.com/cotterpin/cotter/internal/oci"
	"github.com/cotterpin/cotter/internal/secret"
)

const (
	// maxOCIMetadata bounds the size of a manifest and of a page of tags, in bytes. Registries
	// promise to accept manifests of up to this size.
	maxOCIMetadata = 4 << 20
	// maxOCITagPages bounds the number of pages in a list of tags.
	maxOCITagPages = 1_000
	// ociTagPage is the number of tags to request per page. Some registries return an error for
	// more.
	ociTagPage = 1_000
)

// OCIRepository is a repository of an OCI registry. [Fetcher.OCIRepository] returns one;
// callers can also bring their own implementation. Implementations must be safe for concurrent
// use.
type OCIRepository interface {
	// Tags calls page with the tags of the repository, with as many per call as the registry
	// returns. They are in the registry's order, beginning after the tag last. If page returns
	// an error, Tags stops and returns it.
	Tags(ctx context.Context, last string, page func(tags []string) error) error
	// Digest returns the digest of the manifest that a tag currently points to. The error wraps
	// fs.ErrNotExist if the tag does not exist.
	Digest(ctx context.Context, tag string) (string, error)
}

// OCIRepository opens the repository of req.Package, without sending a request. It uses the
// fields Package, FromServer, Origin and FromPackage of the request. The tag or digest in the
// address must be valid, but is not requested. The error is a *[FetchError], and so are the
// errors of the repository.
//
// Requests of the repository have the same limits, credentials and retries as those of Fetch.
// Tags fails with [ErrTooLarge] after 1,000 pages. It does not check whether a page is
// repeated; package versions/ocitags does.
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

// shownRepository is an OCIRepository whose errors contain the address of the package.
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

// ociRepository is the client for one repository.
type ociRepository struct {
	*remote.Repository
	fetcher *Fetcher
}

// ociRepository creates the client for a repository, without sending a request.
func (f *Fetcher) ociRepository(a *ociAddress) *ociRepository {
	ref := registry.Reference{Registry: a.host, Repository: a.repository}
	toRegistry, toToken := f.httpClient(defaultStallTimeout), f.httpClient(defaultStallTimeout)
	toToken.MaxRedirects = 0
	transport := &ociTransport{
		registry: toRegistry,
		token:    toToken,
		// This is not always the host of the address: Docker Hub has an alias.
		at:  &url.URL{Scheme: "https", Host: ref.Host()},
		api: "/v2/" + a.repository + "/",
	}
	return &ociRepository{fetcher: f, Repository: &remote.Repository{
		Reference: ref,
		Client: &auth.Client{
			// The client has no cookie jar, and sees no redirects.
			Client:     &http.Client{Transport: transport},
			Credential: f.ociCredential(ref),
			Cache:      auth.NewCache(), // only for this repository
		},
		TagListPageSize:  ociTagPage,
		TagListMaxPages:  maxOCITagPages,
		MaxMetadataBytes: maxOCIMetadata,
	}}
}

// repeat runs an operation of the registry client, and retries failures that may be temporary.
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
			return nil // not to be retried
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
		if err == nil && !oci.IsDigest(found.Digest.String()) {
			err = fmt.Errorf("%w: the digest of the tag is %q", ErrOCIContent, found.Digest)
		}
		digest = found.Digest.String()
		return err
	})
	return digest, err
}

// OCICredential is sent to an OCI registry or its token service. It has Username and Password,
// an AccessToken, or a RefreshToken. The zero value means that there is no credential. It is
// printed as "REDACTED", and is never part of an error or a result.
type OCICredential struct {
	Username, Password string
	// RefreshToken is exchanged for an access token (OAuth 2). Docker calls it an identity
	// token.
	RefreshToken string
	// AccessToken is sent to the registry itself, as a bearer token.
	AccessToken string
}

// Format prints "REDACTED" for every verb of package fmt.
func (OCICredential) Format(f fmt.State, _ rune) {
	secret.Format(f)
}

// MarshalText returns "REDACTED", for JSON and structured logs.
func (OCICredential) MarshalText() ([]byte, error) { return []byte(secret.Redacted), nil }

// OCICredentials returns the credential for a repository of a registry. The host has a port if
// the address has one. It is called at most a few times for each fetch, and only if the
// registry demands authentication. If there is no credential, it returns the zero value and no
// error. If it returns an error, the fetch fails.
type OCICredentials func(ctx context.Context, host, repository string) (OCICredential, error)

// ociCredential adapts OCICredentials to the registry client. It returns no credential for
// hosts other than the registry's.
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
