package getmodules

import (
	"context"
	"fmt"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
)

// OCICredential is what an OCI registry or its token service is shown. Username
// and Password, an AccessToken, or a RefreshToken may be set; the zero value
// means that there is none. It is printed as "REDACTED", and never part of an error or a
// result.
type OCICredential struct {
	Username, Password string
	// RefreshToken is exchanged for an access token (OAuth 2), which Docker
	// calls an identity token.
	RefreshToken string
	// AccessToken is shown to the registry itself, as a bearer token.
	AccessToken string
}

// Format prints "REDACTED" for every verb of package fmt.
func (OCICredential) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte("REDACTED")) // fmt reports errors of the writer
}

// MarshalText returns "REDACTED", for JSON and structured logs.
func (OCICredential) MarshalText() ([]byte, error) { return []byte("REDACTED"), nil }

// OCICredentials finds the credential for a repository of a registry. The host
// has its port if the address has one. It is asked at most a few times for each
// fetch, and only when the registry demands authentication. An error ends the
// fetch; no credential is the zero value and no error.
type OCICredentials func(ctx context.Context, host, repository string) (OCICredential, error)

// ociCredential is OCICredentials for the client, which may name no host but the
// registry's.
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
