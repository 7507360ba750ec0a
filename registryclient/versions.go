package registryclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/versions"
)

const (
	// maxListing is far beyond what any module has; listings with descriptions
	// of all submodules of all versions reach a few MiB.
	maxListing = 32 << 20
	// maxVersions bounds what becomes of a listing that is made of nothing but
	// versions.
	maxVersions = 100_000
)

// ModuleVersions lists the versions of a package in the order of the registry,
// each once. The Ref of a candidate is the version as the registry spells it;
// there is no Revision. Published is what the registry says under "discovered". A
// package may have no versions. The caller may keep and change the result. An
// error is a *[RequestError].
func (c *Client) ModuleVersions(ctx context.Context, pkg addrs.ModuleRegistryPackage) ([]versions.Candidate, error) {
	listed, err := c.listings.Do(ctx, pkg, func(ctx context.Context) ([]versions.Candidate, error) {
		return c.list(ctx, pkg)
	})
	if err != nil {
		return nil, asRequestError(release{pkg: pkg}, err)
	}
	return slices.Clone(listed), nil
}

func (c *Client) list(ctx context.Context, pkg addrs.ModuleRegistryPackage) ([]versions.Candidate, error) {
	r, err := c.endpoint(ctx, release{pkg: pkg}, "versions")
	if err != nil {
		return nil, err
	}
	answer, err := c.get(ctx, r, maxListing)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, r.refusal(answer, "the registry has no such module, or shows it only with credentials: check the source address")
	}
	listed, err := parseListing(answer.Body)
	if err != nil {
		return nil, r.failWith(answer, fmt.Errorf("%w: %w", ErrInvalidAnswer, err))
	}
	return listed, nil
}

// parseListing reads the first module of a listing. What else there is only has
// to be JSON.
func parseListing(body []byte) ([]versions.Candidate, error) {
	var listing struct {
		Modules []json.RawMessage `json:"modules"`
	}
	if err := decode(body, &listing); err != nil {
		return nil, err
	}
	if len(listing.Modules) == 0 {
		return nil, fmt.Errorf(`it lists no module in "modules"`)
	}
	var module struct {
		Versions []struct {
			Version    string `json:"version"`
			Discovered any    `json:"discovered"`
		} `json:"versions"`
	}
	if err := decode(listing.Modules[0], &module); err != nil {
		return nil, err
	}
	if len(module.Versions) > maxVersions {
		return nil, fmt.Errorf("it lists %d versions, and the limit is %d", len(module.Versions), maxVersions)
	}
	var found []versions.Candidate
	seen := make(map[versions.Version]bool)
	for _, listed := range module.Versions {
		v, err := versions.Parse(listed.Version)
		if err != nil || seen[v] {
			continue
		}
		seen[v] = true
		found = append(found, versions.Candidate{Version: v, Ref: listed.Version, Published: discovered(listed.Discovered)})
	}
	return found, nil
}

// discovered returns when a registry saw a version first: OpenTofu's says so, in
// RFC 3339. It is not part of the protocol, so other values are not errors.
func discovered(value any) time.Time {
	text, _ := value.(string)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// decode is json.Unmarshal with errors for people.
func decode(text []byte, to any) error {
	err := json.Unmarshal(text, to)
	if err == nil {
		return nil
	}
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return fmt.Errorf("it is not valid JSON: %s", httpx.Printable(err.Error()))
	case mismatch.Field == "":
		return fmt.Errorf("it is not the JSON that is expected, but %q", mismatch.Value)
	}
	return fmt.Errorf("it is not the JSON that is expected: %q is of the type %q", httpx.Printable(mismatch.Field), mismatch.Value)
}
