package registryclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/versions"
)

const (
	// maxLocationAnswer is the maximum size of the answer, which is an object with one
	// address, in bytes.
	maxLocationAnswer = 1 << 20
	// maxLocation is the maximum size of a location, in bytes. It is the usual limit of
	// servers for URLs. Longer locations can be expensive to resolve.
	maxLocation = 8 << 10
)

// Location is the location of a version of a package, as returned by its registry.
type Location struct {
	// Source is the package with the subdirectory in it, which can be a glob. It can
	// contain credentials from the registry.
	Source addrs.ModuleSourceRemote
	// Origin is the URL that gave the location, after redirects, without credentials.
	Origin string
	// Direct is set if the registry hosts the package as an archive that [Client.Download]
	// can download. Then Source.Package is the literal URL, and Source.Subdir is empty.
	Direct bool
	// UseCredentials is set if the archive requires the registry's credentials.
	UseCredentials bool
}

// PackageLocation gets the location of a version of a package. The error is a
// *[RequestError].
func (c *Client) PackageLocation(ctx context.Context, pkg addrs.ModuleRegistryPackage, v versions.Version) (Location, error) {
	about := subject{module: pkg, version: v}
	if v.IsZero() {
		return Location{}, failBefore(about, errors.New("registryclient: the zero Version has no location"))
	}
	found, err := c.locations.Do(ctx, httpx.Share(ctx, about), func(ctx context.Context) (Location, error) {
		return c.locate(ctx, about)
	})
	if err != nil {
		return Location{}, asRequestError(about, err)
	}
	return found, nil
}

func (c *Client) locate(ctx context.Context, about subject) (Location, error) {
	r, err := c.endpoint(ctx, about, "download")
	if err != nil {
		return Location{}, err
	}
	answer, err := c.get(ctx, r, maxLocationAnswer)
	if err != nil {
		return Location{}, err
	}
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusNoContent {
		return Location{}, r.refusal(answer, "the registry has no such version, or it requires credentials")
	}
	found, err := readLocation(r, answer)
	if err != nil {
		return Location{}, r.failWith(answer, err)
	}
	found.Origin = addrs.Redact(answer.URL().String())
	return found, nil
}

func readLocation(r *request, answer *httpx.Answer) (Location, error) {
	body, notObject, err := parseLocation(answer.Body)
	if err != nil {
		return Location{}, fmt.Errorf("%w: %w", ErrInvalidAnswer, err)
	}
	if body.UseRegistryCredentials != nil {
		return direct(r.url, body)
	}
	location := cmp.Or(body.Location, answer.Header.Get("X-Terraform-Get"))
	switch {
	case location == "" && notObject != nil && len(answer.Body) > 0:
		return Location{}, fmt.Errorf("%w: it has no header X-Terraform-Get, and no location in its body: %w", ErrInvalidAnswer, notObject)
	case location == "":
		return Location{}, fmt.Errorf(`%w: it has neither a "location" nor the header X-Terraform-Get`, ErrInvalidAnswer)
	case len(location) > maxLocation:
		return Location{}, tooLong(location)
	}
	return indirect(r, location)
}

func tooLong(location string) error {
	return fmt.Errorf("%w: the location has %d bytes, and the limit is %d", ErrInvalidAnswer, len(location), maxLocation)
}

// asRequestError wraps the error of the context, which is the only error that is not a
// *RequestError.
func asRequestError(about subject, err error) *RequestError {
	if failure, ok := errors.AsType[*RequestError](err); ok {
		return failure
	}
	return failBefore(about, err)
}

// locationBody is the body of an answer with a location.
type locationBody struct {
	Location string `json:"location"`
	// UseRegistryCredentials is not nil if the registry hosts the package (OpenTofu 1.12).
	UseRegistryCredentials *bool `json:"use_registry_credentials"`
}

// parseLocation parses the body of an answer with a location. Terraform does not read the
// body, so registries for Terraform can send anything. notObject is the reason why the body
// is not a JSON object; it matters only if the header has no location either. A wrong type
// in an object is an error.
func parseLocation(text []byte) (body locationBody, notObject, err error) {
	var object map[string]json.RawMessage
	if notObject := decode(text, &object); notObject != nil || object == nil {
		return locationBody{}, notObject, nil
	}
	err = decode(text, &body)
	return body, nil, err
}
