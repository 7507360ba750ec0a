package getmodules

import (
	"context"
	"net/http"
	"net/url"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
)

const (
	// maxOCIMetadata bounds a manifest and a page of tags: what registries
	// promise to take.
	maxOCIMetadata = 4 << 20
	// maxOCITagPages bounds how long a registry may go on with its tags.
	maxOCITagPages = 1_000
	// ociTagPage is how many tags are asked for at once: more than this is
	// an error to some registries.
	ociTagPage = 1_000
)

// ociRepository makes the client for a repository. Nothing is sent yet.
func (f *Fetcher) ociRepository(a *ociAddress) *remote.Repository {
	ref := registry.Reference{Registry: a.host, Repository: a.repository}
	transport := &ociTransport{
		fetcher:  f,
		registry: ociOrigin(ref),
		api:      "/v2/" + a.repository + "/",
	}
	return &remote.Repository{
		Reference: ref,
		Client: &auth.Client{
			// No jar, and no redirects, which the transport follows.
			Client:     &http.Client{Transport: transport},
			Credential: f.ociCredential(ref),
			Cache:      auth.NewCache(), // of this repository alone
		},
		TagListPageSize:  ociTagPage,
		TagListMaxPages:  maxOCITagPages,
		MaxMetadataBytes: maxOCIMetadata,
	}
}

// ociOrigin is where a registry is, as [origin] has it. It is not always the
// host of the address: that of Docker Hub is an alias.
func ociOrigin(ref registry.Reference) string {
	return origin(&url.URL{Scheme: "https", Host: ref.Host()})
}

// repeatOCI runs one operation of the registry client, and runs it again after
// a failure that may pass, as http requests are repeated.
func (f *Fetcher) repeatOCI(ctx context.Context, r *remote.Repository, run func() error) error {
	return f.repeat(ctx, r.Reference.Host(), func() error { return ociError(run()) })
}
