package registryclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/versions"
)

const (
	// minProtocol and maxProtocol are the major versions of the plugin protocol that stock tools support.
	minProtocol, maxProtocol = 5, 6
	// maxFilename is the maximum length in bytes, as in file systems.
	maxFilename = 255
)

// ProviderPackage is the location of a provider's package for one platform, with the data to verify it.
// Nothing in it has been verified yet.
type ProviderPackage struct {
	Provider  addrs.Provider
	Version   versions.Version
	Platform  addrs.Platform
	Protocols []string
	// Filename is the archive's name in the document of sums.
	Filename string
	// URL, SumsURL and SignatureURL are the addresses of the archive, of the document of sums, and of its
	// detached signature: absolute https URLs (or http if the registry and they are on this machine), which
	// may contain credentials.
	URL, SumsURL, SignatureURL string
	// Sum is the archive's SHA-256 in lower-case hexadecimal.
	Sum string
	// Keys are the OpenPGP keys that the registry offers.
	Keys []SigningKey
	// Packages is the report about all platforms, in the newer form of the answer; nil if there is none.
	Packages map[addrs.Platform]ReportedPackage
}

// SigningKey is an OpenPGP key as a registry offers it.
type SigningKey struct {
	// ID is in hexadecimal, as the registry writes it. It is not checked.
	ID    string
	Armor string
	// TrustSignature, Source and SourceURL describe the owner of the key, according to the registry.
	TrustSignature, Source, SourceURL string
}

// ReportedPackage is what a registry reports about one platform's package.
type ReportedPackage struct {
	// Size is the archive's length in bytes; 0 if it is not reported.
	Size int64
	// Hashes are the hashes with the schemes "h1:" and "zh:"; others are left out.
	Hashes []string
}

// ProviderPackage gets the location of a provider's package. Callers share the result and must not change
// it. The error is a *[RequestError]. It wraps [ErrUnsupportedPlatform] if the registry has no such
// package, and a *[ProtocolError] if stock tools cannot run it.
func (c *Client) ProviderPackage(ctx context.Context, provider addrs.Provider, v versions.Version, platform addrs.Platform) (ProviderPackage, error) {
	about := subject{provider: provider, version: v, platform: platform}
	if provider == (addrs.Provider{}) || v.IsZero() || platform == (addrs.Platform{}) {
		return ProviderPackage{}, failBefore(about, errors.New("registryclient: a package has a provider, a version and a platform"))
	}
	return once(ctx, &c.packages, about, c.locateProvider)
}

func (c *Client) locateProvider(ctx context.Context, about subject) (ProviderPackage, error) {
	return asListed(about, func(about subject) (ProviderPackage, error) { return c.askProvider(ctx, about) }, func() string {
		all, err := c.ProviderVersions(ctx, about.provider)
		i := slices.IndexFunc(all.Versions, func(listed ProviderVersion) bool { return listed.Version == about.version })
		if err != nil || i < 0 {
			return ""
		}
		return all.Versions[i].Listed
	})
}

func (c *Client) askProvider(ctx context.Context, about subject) (ProviderPackage, error) {
	return ask(ctx, c, about, document[ProviderPackage]{
		last:  []string{"download", about.platform.OS, about.platform.Arch},
		limit: maxProviderAnswer,
		read: func(_ *request, answer *httpx.Answer) (ProviderPackage, error) {
			var body packageBody
			if err := httpx.Decode(answer.Body, &body); err != nil {
				return ProviderPackage{}, fmt.Errorf("%w: %w", ErrInvalidAnswer, err)
			}
			return body.read(about, answer.URL())
		},
		listed: ProviderPackage.kept,
	})
}

// kept is how many values a report has: its protocols, platforms, hashes and keys.
func (p ProviderPackage) kept() int {
	n := len(p.Protocols) + len(p.Packages) + len(p.Keys)
	for _, reported := range p.Packages {
		n += len(reported.Hashes)
	}
	for _, key := range p.Keys {
		n += packagelimits.Values(len(key.ID) + len(key.Armor) + len(key.TrustSignature) + len(key.Source) + len(key.SourceURL))
	}
	return n
}

type packageBody struct {
	Protocols    []string `json:"protocols"`
	OS           string   `json:"os"`
	Arch         string   `json:"arch"`
	Filename     string   `json:"filename"`
	URL          string   `json:"download_url"`
	Sum          string   `json:"shasum"`
	SumsURL      string   `json:"shasums_url"`
	SignatureURL string   `json:"shasums_signature_url"`
	SigningKeys  struct {
		GPG []*struct {
			ID             string `json:"key_id"`
			Armor          string `json:"ascii_armor"`
			TrustSignature any    `json:"trust_signature"`
			Source         any    `json:"source"`
			SourceURL      any    `json:"source_url"`
		} `json:"gpg_public_keys"`
	} `json:"signing_keys"`
	Packages map[string]*reportedBody `json:"packages"`
}

type reportedBody struct {
	Size   json.Number `json:"package_size"`
	Hashes []string    `json:"hashes"`
}

// read checks the answer and returns it with URLs resolved against from.
func (b *packageBody) read(about subject, from *url.URL) (ProviderPackage, error) {
	invalid := func(format string, args ...any) (ProviderPackage, error) {
		return ProviderPackage{}, fmt.Errorf("%w: %w", ErrInvalidAnswer, fmt.Errorf(format, args...))
	}
	found := ProviderPackage{
		Provider: about.provider, Version: about.version, Platform: about.platform,
		Protocols: b.Protocols, Filename: b.Filename, Sum: strings.ToLower(b.Sum), Keys: b.keys(),
	}
	if (addrs.Platform{OS: b.OS, Arch: b.Arch}) != about.platform {
		return invalid("it is about the platform %q", httpx.Printable(b.OS+"_"+b.Arch))
	}
	for _, p := range b.Protocols {
		if !isProtocol(p) {
			return invalid("%q is not a version of the plugin protocol", httpx.Printable(p))
		}
	}
	if !supportsProtocol(b.Protocols) {
		return ProviderPackage{}, &ProtocolError{Protocols: b.Protocols}
	}
	if reason := filenameFault(b.Filename); reason != "" {
		return invalid("the filename %q %s", httpx.Printable(b.Filename), reason)
	}
	if _, err := hashing.ParseHash("zh:" + found.Sum); err != nil {
		return invalid("the shasum %q is not a SHA-256 in hexadecimal", httpx.Printable(b.Sum))
	}
	for _, link := range []struct {
		name, reference string
		to              *string
	}{
		{"download_url", b.URL, &found.URL},
		{"shasums_url", b.SumsURL, &found.SumsURL},
		{"shasums_signature_url", b.SignatureURL, &found.SignatureURL},
	} {
		u, err := resolve(from, link.name, link.reference)
		if err != nil {
			return ProviderPackage{}, err
		}
		*link.to = u
	}
	var err error
	if found.Packages, err = b.reported(about.platform, found.Sum); err != nil {
		return invalid("%w", err)
	}
	return found, nil
}

// keys returns the keys with an armor. Their other properties are for people, so any type is accepted.
func (b *packageBody) keys() []SigningKey {
	var keys []SigningKey
	for _, k := range b.SigningKeys.GPG {
		if k == nil || k.Armor == "" {
			continue
		}
		trust, _ := k.TrustSignature.(string)
		source, _ := k.Source.(string)
		sourceURL, _ := k.SourceURL.(string)
		keys = append(keys, SigningKey{ID: k.ID, Armor: k.Armor, TrustSignature: trust, Source: source, SourceURL: sourceURL})
	}
	return keys
}

// resolve returns the absolute URL of a reference, by the rule for packages of modules.
func resolve(from *url.URL, name, reference string) (string, error) {
	switch {
	case reference == "":
		return "", fmt.Errorf("%w: it has no %q", ErrInvalidAnswer, name)
	case len(reference) > httpx.MaxLocation:
		return "", fmt.Errorf("%w: %q has %d bytes, and the limit is %d", ErrInvalidAnswer, name, len(reference), httpx.MaxLocation)
	}
	u, err := from.Parse(reference)
	if err != nil {
		return "", fmt.Errorf("%w: the %s %q is not a URL", ErrInvalidAnswer, name, shown(reference))
	}
	if err := checkTarget(from, u); err != nil {
		return "", fmt.Errorf("%w: the %s %q, because %w", ErrRefusedLocation, name, shown(u.String()), err)
	}
	return u.String(), nil
}

// filenameFault says why a name cannot be that of an archive in a document of sums; "" if it can.
func filenameFault(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxFilename:
		return fmt.Sprintf("has more than %d bytes", maxFilename)
	case name == "." || name == ".." || strings.ContainsAny(name, `/\`) ||
		strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "is not the name of a file"
	}
	return ""
}

// reported returns the report about all platforms, which must be consistent with the rest of the answer.
func (b *packageBody) reported(own addrs.Platform, sum string) (map[addrs.Platform]ReportedPackage, error) {
	if len(b.Packages) == 0 {
		return nil, nil
	}
	found := make(map[addrs.Platform]ReportedPackage, len(b.Packages))
	for name, body := range b.Packages {
		platform, err := addrs.ParsePlatform(name)
		if err != nil {
			return nil, fmt.Errorf(`in "packages": %w`, err)
		}
		if body == nil {
			body = &reportedBody{}
		}
		size, err := strconv.ParseInt(cmp.Or(body.Size.String(), "0"), 10, 64)
		if err != nil || size < 0 {
			return nil, fmt.Errorf(`in "packages": %q is not a size`, httpx.Printable(body.Size.String()))
		}
		one := ReportedPackage{Size: size}
		for _, text := range body.Hashes {
			if hash, err := hashing.ParseHash(text); err == nil && (hash.Scheme() == "h1" || hash.Scheme() == "zh") {
				one.Hashes = append(one.Hashes, text)
			}
		}
		found[platform] = one
	}
	if !slices.Contains(found[own].Hashes, "zh:"+sum) {
		return nil, fmt.Errorf(`"packages" does not have the shasum of %s`, own)
	}
	return found, nil
}

func isProtocol(text string) bool {
	_, ok := majorOf(text)
	return ok
}

func majorOf(protocol string) (major int, ok bool) {
	first, second, found := strings.Cut(protocol, ".")
	major, err := strconv.Atoi(first)
	if err != nil || len(protocol) > 16 || strings.Trim(protocol, "0123456789.") != "" {
		return 0, false
	}
	if _, err := strconv.Atoi(second); found && err != nil {
		return 0, false
	}
	return major, true
}

// supportsProtocol reports whether stock tools try to run a plugin with these protocols.
func supportsProtocol(protocols []string) bool {
	return len(protocols) == 0 || slices.ContainsFunc(protocols, func(p string) bool {
		major, ok := majorOf(p)
		return ok && major >= minProtocol && major <= maxProtocol
	})
}
