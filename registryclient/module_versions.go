package registryclient

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/versions"
)

const (
	// maxListing, in bytes, is enough for the submodules of all versions, which take a few MiB.
	maxListing  = 16 << 20
	maxVersions = 100_000
)

// ModuleVersions lists the versions of a package in the order of the registry, without duplicates; there
// may be none. Ref is the version as written, Revision is empty, and Published is the value of
// "discovered". The caller may keep and change the result. The error is a *[RequestError].
func (c *Client) ModuleVersions(ctx context.Context, pkg addrs.ModuleRegistryPackage) ([]versions.Candidate, error) {
	listed, err := once(ctx, &c.listings, subject{module: pkg}, c.list)
	return slices.Clone(listed), err
}

func (c *Client) list(ctx context.Context, about subject) ([]versions.Candidate, error) {
	return ask(ctx, c, about, document[[]versions.Candidate]{
		last:  []string{"versions"},
		limit: maxListing,
		read: func(_ *request, answer *httpx.Answer) ([]versions.Candidate, error) {
			listed, err := parseListing(answer.Body)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrInvalidAnswer, err)
			}
			return listed, nil
		},
		listed: func(listed []versions.Candidate) int { return len(listed) },
	})
}

// parseListing parses the first module of a listing. The rest only has to be valid JSON.
func parseListing(body []byte) ([]versions.Candidate, error) {
	var listing struct {
		Modules []json.RawMessage `json:"modules"`
	}
	if err := httpx.Decode(body, &listing); err != nil {
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
	if err := httpx.Decode(listing.Modules[0], &module); err != nil {
		return nil, err
	}
	if len(module.Versions) > maxVersions {
		return nil, fmt.Errorf("it lists %d versions; the limit is %d", len(module.Versions), maxVersions)
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

// discovered returns the time when a registry first saw a version, which OpenTofu's registry lists in RFC
// 3339. It is not part of the protocol, so other values are not errors.
func discovered(value any) time.Time {
	text, _ := value.(string)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
