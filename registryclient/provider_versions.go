package registryclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/versions"
)

const (
	// maxProviderAnswer limits answers, in bytes. They can have the keys, and the hashes of all platforms.
	maxProviderAnswer = 16 << 20
	maxWarnings       = 32
)

// ProviderListing is the answer of a registry about a provider.
type ProviderListing struct {
	// Versions are in the order of the answer.
	Versions []ProviderVersion
	// Warnings are texts to show to the user.
	Warnings []string
}

// ProviderVersion is one version of a provider in a registry's listing.
type ProviderVersion struct {
	Version versions.Version
	// Listed is the version as the registry writes it; "" if that is its usual form.
	Listed string
	// Protocols are the versions of the plugin protocol, such as "5.0", and Platforms those that have
	// packages. Malformed entries are left out. Neither field affects the selection of a version.
	Protocols []string
	Platforms []addrs.Platform
}

// Compatible reports whether stock tools support one of the protocols, or the version has none.
func (v ProviderVersion) Compatible() bool { return supportsProtocol(v.Protocols) }

// ProviderVersions lists the versions of a provider in the order of the registry, without duplicates; there
// may be none. Callers share the result and must not change it. The error is a *[RequestError].
func (c *Client) ProviderVersions(ctx context.Context, provider addrs.Provider) (ProviderListing, error) {
	return once(ctx, &c.providers, subject{provider: provider}, c.listProvider)
}

func (c *Client) listProvider(ctx context.Context, about subject) (ProviderListing, error) {
	return useListing(ctx, c, about, func(body listingBody) ProviderListing {
		listing := ProviderListing{Versions: body.versions()}
		for _, text := range body.Warnings[:min(len(body.Warnings), maxWarnings)] {
			if text = strings.TrimSpace(text); text != "" {
				listing.Warnings = append(listing.Warnings, httpx.Printable(text))
			}
		}
		return listing
	}, ProviderListing.kept)
}

// kept is how many values a listing has.
func (l ProviderListing) kept() int {
	n := len(l.Versions)
	for _, v := range l.Versions {
		n += len(v.Platforms) + len(v.Protocols)
	}
	return n
}

// useListing returns what a function makes of the listing of a provider, which is not kept.
func useListing[V any](ctx context.Context, c *Client, about subject, use func(listingBody) V, listed func(V) int) (none V, _ error) {
	if about.provider == (addrs.Provider{}) {
		return none, failBefore(about, errors.New("registryclient: the zero Provider has no versions"))
	}
	return ask(ctx, c, about, document[V]{
		last:  []string{"versions"},
		limit: maxProviderAnswer,
		read: func(_ *request, answer *httpx.Answer) (V, error) {
			var body listingBody
			err := httpx.Decode(answer.Body, &body)
			if len(body.Versions) > maxVersions {
				err = fmt.Errorf("it lists %d versions; the limit is %d", len(body.Versions), maxVersions)
			}
			if err != nil {
				return none, fmt.Errorf("%w: %w", ErrInvalidAnswer, err)
			}
			return use(body), nil
		},
		listed: listed,
	})
}

type listingBody struct {
	Versions []struct {
		Version   string   `json:"version"`
		Protocols []string `json:"protocols"`
		Platforms []struct {
			OS   string `json:"os"`
			Arch string `json:"arch"`
		} `json:"platforms"`
	} `json:"versions"`
	Warnings []string `json:"warnings"`
	// ID and MovedTo are set for addresses without a namespace; see ProviderRenamed.
	ID      string `json:"id"`
	MovedTo string `json:"moved_to"`
}

// versions returns the versions whose text stock tools accept, each once.
func (b *listingBody) versions() []ProviderVersion {
	var found []ProviderVersion
	seen := make(map[versions.Version]bool)
	for _, listed := range b.Versions {
		v, err := versions.ParseProviderVersion(listed.Version)
		if err != nil || seen[v] {
			continue
		}
		seen[v] = true
		one := ProviderVersion{Version: v}
		if listed.Version != v.String() {
			one.Listed = listed.Version
		}
		for _, p := range listed.Protocols {
			if isProtocol(p) {
				one.Protocols = append(one.Protocols, p)
			}
		}
		for _, p := range listed.Platforms {
			if platform, err := addrs.ParsePlatform(p.OS + "_" + p.Arch); err == nil {
				one.Platforms = append(one.Platforms, platform)
			}
		}
		found = append(found, one)
	}
	return found
}

// ProviderRenamed asks the registry for the new address of a provider of the same type, to suggest it.
// Stock tools do this for an unknown "hashicorp/TYPE" on their default host. It returns false if there is
// no other address. The error is a *[RequestError].
func (c *Client) ProviderRenamed(ctx context.Context, provider addrs.Provider) (addrs.Provider, bool, error) {
	legacy := provider
	legacy.Namespace = "-"
	source, err := useListing(ctx, c, subject{provider: legacy}, func(body listingBody) string {
		namespace, _, _ := strings.Cut(body.ID, "/")
		return cmp.Or(body.MovedTo, namespace+"/"+provider.Type)
	}, nil)
	if errors.Is(err, ErrNotFound) {
		return addrs.Provider{}, false, nil
	}
	if err != nil {
		return addrs.Provider{}, false, err
	}
	found, err := addrs.Parser{DefaultRegistryHost: provider.Hostname}.ParseProviderSource(source)
	if err != nil || found.Namespace == legacy.Namespace || found == provider {
		return addrs.Provider{}, false, nil
	}
	return found, true, nil
}
