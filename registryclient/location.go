package registryclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/versions"
)

const (
	// maxLocationAnswer is for an object with one address in it.
	maxLocationAnswer = 1 << 20
	// maxLocation is what servers commonly allow for a URL. Longer ones can
	// cost a lot to resolve.
	maxLocation = 8 << 10
)

// Location is where a registry says that a version of a package is.
type Location struct {
	// Source is the package and the directory in it that the registry means,
	// which may be a glob. It may hold credentials that the registry put there.
	Source addrs.ModuleSourceRemote
	// Origin is the URL that gave the location, after redirects, without
	// credentials.
	Origin string
	// Direct says that the registry hosts the package: it is an archive, to be
	// had from [Client.Download]. Source.Package is its URL then, to be taken
	// literally, and Source.Subdir is empty.
	Direct bool
	// UseCredentials says that the archive wants the registry's credentials.
	UseCredentials bool
}

// PackageLocation asks where a version of a package is. An error is a
// *[RequestError].
func (c *Client) PackageLocation(ctx context.Context, pkg addrs.ModuleRegistryPackage, v versions.Version) (Location, error) {
	about := release{pkg: pkg, version: v}
	if v.IsZero() {
		return Location{}, failBefore(about, errors.New("registryclient: the zero Version has no location"))
	}
	found, err := c.locations.Do(ctx, about, func(ctx context.Context) (Location, error) {
		return c.locate(ctx, about)
	})
	if err != nil {
		return Location{}, asRequestError(about, err)
	}
	return found, nil
}

func (c *Client) locate(ctx context.Context, about release) (Location, error) {
	r, err := c.endpoint(ctx, about, "download")
	if err != nil {
		return Location{}, err
	}
	answer, err := c.get(ctx, r, maxLocationAnswer)
	if err != nil {
		return Location{}, err
	}
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusNoContent {
		return Location{}, r.refusal(answer, "the registry has no such version, or shows it only with credentials")
	}
	found, err := readLocation(r, answer)
	if err != nil {
		return Location{}, r.failWith(answer, err)
	}
	found.Origin = addrs.Redact(answer.URL().String())
	return found, nil
}

func readLocation(r *request, answer *httpx.Answer) (Location, error) {
	said, notObject, err := parseLocation(answer.Body)
	if err != nil {
		return Location{}, fmt.Errorf("%w: %w", ErrInvalidAnswer, err)
	}
	if said.UseRegistryCredentials != nil {
		return direct(r.url, said)
	}
	if said.Location == "" {
		said.Location = answer.Header.Get("X-Terraform-Get")
	}
	switch {
	case said.Location == "" && notObject != nil && len(answer.Body) > 0:
		return Location{}, fmt.Errorf("%w: it has no header X-Terraform-Get, and no location in its body: %w", ErrInvalidAnswer, notObject)
	case said.Location == "":
		return Location{}, fmt.Errorf(`%w: it gives no location, neither as "location" nor by the header X-Terraform-Get`, ErrInvalidAnswer)
	case len(said.Location) > maxLocation:
		return Location{}, tooLong(said.Location)
	}
	return indirect(r, said.Location)
}

func tooLong(location string) error {
	return fmt.Errorf("%w: the location has %d bytes, and the limit is %d", ErrInvalidAnswer, len(location), maxLocation)
}

// asRequestError wraps the context's error, the only one that does not come from a
// request.
func asRequestError(about release, err error) *RequestError {
	if failure, ok := errors.AsType[*RequestError](err); ok {
		return failure
	}
	return failBefore(about, err)
}
