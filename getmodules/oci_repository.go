package getmodules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/text/sanitize"
	"github.com/cotterpin/cotter/ocistore"
)

const (
	// maxOCIMetadata bounds a manifest and a page of tags, in bytes. Registries accept manifests of up to
	// this size.
	maxOCIMetadata = 4 << 20
	maxOCITagPages = 1_000
	// ociTagPage is the number of tags to request. Some registries return an error for more.
	ociTagPage = 1_000
)

// OpenOCI opens a repository of a registry: that of [Fetcher].OCI, or else one of our own client, with the
// limits, credentials and retries of Fetch. It sends no request yet. host is HOST or HOST:PORT. The errors,
// also those of the repository, are *[FetchError].
//
// Resolve of our own client requests the content too, into the field Data of the descriptor. Tags fails
// with [ErrTooLarge] after 1,000 pages, but does not check whether a page is repeated; versions.FromOCITags
// does.
func (f *Fetcher) OpenOCI(ctx context.Context, host, repository string) (ocistore.Repository, error) {
	addr, shown, err := f.ociAddress(host, repository)
	if err != nil {
		return nil, fetchError(shown, err)
	}
	return f.openShown(ctx, addr, shown)
}

func (f *Fetcher) ociAddress(host, repository string) (*ociAddress, string, error) {
	pkg := addrs.ParseModulePackage("oci://" + host + "/" + repository)
	addr, err := parseOCIAddress(pkg)
	if err == nil && addr.repository != repository { // the host may be spelled otherwise: "1" is 0.0.0.1
		err = badOCI("%q is not the name of a repository", host+"/"+repository)
	}
	return addr, pkg.Redacted(), err
}

// OCIRepository is [Fetcher.OpenOCI] for the repository of req.Package. It uses Package, FromServer, Origin
// and FromPackage of the request. The tag or digest must be valid, but is not requested.
func (f *Fetcher) OCIRepository(ctx context.Context, req Request) (ocistore.Repository, error) {
	shown := req.Package.Redacted()
	if err := checkLocation(ctx, req); err != nil {
		return nil, fetchError(shown, err)
	}
	ctx = limited(ctx, req)
	if req.Package.Getter() != "oci" {
		return nil, fetchError(shown, fmt.Errorf("%w: %q is not a repository of an OCI registry", ErrUnsupportedScheme, req.Package.Getter()))
	}
	addr, err := parseOCIAddress(req.Package)
	if err != nil {
		return nil, fetchError(shown, err)
	}
	return f.openShown(ctx, addr, shown)
}

func (f *Fetcher) openOCI(ctx context.Context, addr *ociAddress) (ocistore.Repository, error) {
	if getter, own := f.replaced("oci"); own && getter == nil {
		return nil, errRemoved("oci")
	} else if own {
		return nil, errOwnGetter("oci", "open repositories: set Fetcher.OCI for that")
	}
	if f.OCI == nil {
		return f.ociRepository(addr, httpx.Pointer(ctx)), nil
	}
	found, err := f.OCI.OpenOCI(ctx, addr.host, addr.repository)
	switch {
	case err != nil:
		return nil, openedError(err)
	case found == nil:
		return nil, fmt.Errorf("%w: no client opened the repository", ErrOCIContent)
	}
	return &ociErrors{found, openedError}, nil
}

func (f *Fetcher) openShown(ctx context.Context, addr *ociAddress, shown string) (ocistore.Repository, error) {
	repository, err := f.openOCI(ctx, addr)
	if err != nil {
		return nil, fetchError(shown, err)
	}
	return &ociErrors{repository, func(err error) error { return fetchError(shown, err) }}, nil
}

type ociRepository struct {
	transport *ociTransport
	remote    *remote.Repository
	fetcher   *Fetcher
}

func (f *Fetcher) ociRepository(a *ociAddress, pointer *url.URL) *ociRepository {
	ref := registry.Reference{Registry: a.host, Repository: a.repository}
	toRegistry, toToken := f.httpClient(defaultStallTimeout), f.httpClient(defaultStallTimeout)
	toToken.MaxRedirects = 0
	transport := &ociTransport{
		registry: toRegistry,
		token:    toToken,
		// Docker Hub has an alias.
		host:     ref.Host(),
		loopback: hostname.IsLoopback(&url.URL{Scheme: "https", Host: ref.Host()}),
		pointer:  pointer,
		api:      "/v2/" + a.repository + "/",
	}
	transport.plain.Store(slices.Contains(f.PlainHTTP, a.host))
	return &ociRepository{fetcher: f, transport: transport, remote: &remote.Repository{
		Reference: ref,
		Client: &auth.Client{
			// There is no cookie jar, and the client sees no redirects.
			Client:     &http.Client{Transport: transport},
			Credential: f.ociCredential(ref, transport),
			Cache:      auth.NewCache(), // only for this repository
		},
		TagListPageSize:  ociTagPage,
		TagListMaxPages:  maxOCITagPages,
		MaxMetadataBytes: maxOCIMetadata,
	}}
}

// repeat retries failures that may be temporary.
func (r *ociRepository) repeat(ctx context.Context, run func() error) error {
	err := r.fetcher.retry().Do(ctx, r.remote.Reference.Host(), func() error { return r.transport.explain(run()) })
	if token, ok := errors.AsType[*tokenServiceError](err); ok {
		return &tokenServiceError{token.service, httpError(token.err)}
	}
	return httpError(err)
}

func (r *ociRepository) Tags(ctx context.Context, last string, page func(tags []string) error) error {
	var refused error
	err := r.repeat(ctx, func() error {
		// A retry continues after the last page.
		err := r.remote.Tags(ctx, last, func(tags []string) error {
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

// Resolve sends one request, whose answer has the content too.
func (r *ociRepository) Resolve(ctx context.Context, reference string) (found ocispec.Descriptor, err error) {
	if !oci.IsDigest(reference) && (registry.Reference{Reference: reference}).ValidateReferenceAsTag() != nil {
		return found, badOCI("%q is not the name of a tag", reference)
	}
	err = r.repeat(ctx, func() (err error) {
		var body io.ReadCloser
		found, body, err = r.remote.FetchReference(ctx, reference)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, body.Close()) }()
		if !oci.IsDigest(found.Digest.String()) {
			return fmt.Errorf("%w: the digest of the manifest is %q", ErrOCIContent, found.Digest)
		}
		found.Data, err = content.ReadAll(body, found)
		return err
	})
	return found, err
}

// Fetch requests an interrupted content again, and skips what has been read before.
func (r *ociRepository) Fetch(ctx context.Context, target ocispec.Descriptor) (io.ReadCloser, error) {
	if !oci.IsDigest(target.Digest.String()) {
		return nil, fmt.Errorf("%w: the digest of a blob is %q", ErrOCIContent, target.Digest)
	}
	ctx, cancel := context.WithCancel(ctx)
	from, to := io.Pipe()
	ended := make(chan struct{})
	answered := make(chan error, 1)
	answer := func(err error) {
		select {
		case answered <- err:
		default: // it has answered before
		}
	}
	go func() {
		defer close(ended)
		passed := int64(0)
		err := r.repeat(ctx, func() (err error) {
			body, err := r.remote.Fetch(ctx, target)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, body.Close()) }()
			if _, err := io.CopyN(io.Discard, body, passed); err != nil {
				return err
			}
			answer(nil)
			n, err := io.Copy(to, body)
			passed += n
			return err
		})
		answer(err)
		to.CloseWithError(err)
	}()
	body := &ociBody{from, func() { cancel(); _ = from.Close(); <-ended }}
	if err := <-answered; err != nil {
		return nil, errors.Join(err, body.Close())
	}
	return body, nil
}

type ociBody struct {
	io.Reader
	stop func()
}

func (b *ociBody) Close() error {
	b.stop()
	return nil
}

type ociErrors struct {
	ocistore.Repository
	translate func(error) error
}

func (r *ociErrors) Resolve(ctx context.Context, reference string) (ocispec.Descriptor, error) {
	found, err := r.Repository.Resolve(ctx, reference)
	if err != nil {
		return ocispec.Descriptor{}, r.translate(err)
	}
	return found, nil
}

func (r *ociErrors) Fetch(ctx context.Context, target ocispec.Descriptor) (io.ReadCloser, error) {
	body, err := r.Repository.Fetch(ctx, target)
	switch {
	case err != nil:
		return nil, r.translate(err)
	case body == nil:
		return nil, r.translate(fmt.Errorf("%w: there is no content", ErrOCIContent))
	}
	return &translatedBody{body, r.translate}, nil
}

func (r *ociErrors) Tags(ctx context.Context, last string, page func(tags []string) error) error {
	var refused error
	err := r.Repository.Tags(ctx, last, func(tags []string) error {
		refused = page(tags)
		return refused
	})
	if refused != nil {
		return r.translate(refused)
	}
	if err != nil {
		return r.translate(err)
	}
	return nil
}

type translatedBody struct {
	io.ReadCloser
	translate func(error) error
}

func (b *translatedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.translate(err)
	}
	return n, err
}

// OCICredential is sent to an OCI registry or its token service: Username and Password, an AccessToken, or
// a RefreshToken; the zero value is none. It is printed as "REDACTED", and is never part of an error or a
// result.
type OCICredential struct {
	Username, Password string
	// RefreshToken is exchanged for an access token (OAuth 2). Docker calls it an identity token.
	RefreshToken string
	// AccessToken is sent to the registry itself, as a bearer token.
	AccessToken string
}

// Format prints "REDACTED" for every verb of package fmt.
func (OCICredential) Format(f fmt.State, _ rune) {
	sanitize.FormatRedacted(f)
}

// MarshalText returns "REDACTED", for JSON and structured logs.
func (OCICredential) MarshalText() ([]byte, error) { return []byte(sanitize.Redacted), nil }

// OCICredentials returns the credential for a repository of a registry, HOST or HOST:PORT; the zero value
// if there is none. It is called a few times for each fetch, and only if the registry demands
// authentication. Its error ends the fetch.
type OCICredentials func(ctx context.Context, host, repository string) (OCICredential, error)

// ociCredential returns none for hosts other than the registry's, and none over http to other machines.
func (f *Fetcher) ociCredential(ref registry.Reference, transport *ociTransport) auth.CredentialFunc {
	return func(ctx context.Context, host string) (auth.Credential, error) {
		if f.OCICredentials == nil || host != ref.Host() || transport.plain.Load() && !transport.loopback {
			return auth.EmptyCredential, nil
		}
		found, err := f.OCICredentials(ctx, ref.Registry, ref.Repository)
		if err != nil {
			return auth.EmptyCredential, &ociCredentialError{err}
		}
		return auth.Credential(found), nil
	}
}
