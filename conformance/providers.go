package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/provider/signing"
)

// MaxPlatforms is the number of platforms of a version whose packages are checked.
const MaxPlatforms = 2

// ProviderRegistry checks the registry of an existing provider: discovery and the provider registry
// protocol. The error is that of the credentials or the context; the server's faults are in the report.
func (c Client) ProviderRegistry(ctx context.Context, provider addrs.Provider) (*Report, error) {
	s, err := c.registry(ctx, provider.String(), provider.Hostname)
	if err != nil {
		return nil, err
	}
	base := s.discover(ctx, provider.Hostname, "providers.v1")
	if base == nil {
		return s.finish(ctx)
	}
	home := base.JoinPath(provider.Namespace, provider.Type)
	for _, version := range s.providerVersions(ctx, home.JoinPath("versions")) {
		for i, platform := range version.Platforms {
			if i < MaxPlatforms {
				s.providerPackage(ctx, home.JoinPath(version.Version, "download", platform.OS, platform.Arch), provider, version, platform)
			}
		}
	}
	s.missing(ctx, "providers.versions.unknown", base.JoinPath(provider.Namespace, unknownName, "versions"), s.authorization)
	s.missing(ctx, "providers.package.unknown", home.JoinPath("0.0.0-"+unknownName, "download", "linux", "amd64"), s.authorization)
	return s.finish(ctx)
}

type providerVersion struct {
	Version   string
	Protocols []string
	Platforms []providerPlatform
}

type providerPlatform struct{ OS, Arch string }

var pluginProtocol = regexp.MustCompile(`^[1-9][0-9]*\.[0-9]+$`)

// providerVersions returns the newest and the oldest version.
func (s session) providerVersions(ctx context.Context, u *url.URL) []providerVersion {
	a := s.document(ctx, "providers.versions.", u, maxDocument)
	if a == nil {
		return nil
	}
	var list struct{ Versions []providerVersion }
	err := a.decode(&list)
	if !s.report.expect(err == nil && len(list.Versions) > 0, "providers.versions.json", a.request, `"versions" has no element of this form: %v`, err) {
		return nil
	}
	var all []string
	for _, v := range list.Versions {
		all = append(all, v.Version)
		strange := slices.IndexFunc(v.Protocols, func(p string) bool { return !pluginProtocol.MatchString(p) })
		s.report.expect(len(v.Protocols) > 0 && strange < 0, "providers.versions.protocols", a.request, "version %s has the protocols %q", excerpt(v.Version), v.Protocols)
		twice := slices.ContainsFunc(v.Platforms, func(p providerPlatform) bool {
			return p.OS == "" || p.Arch == "" || slices.Index(v.Platforms, p) != lastIndex(v.Platforms, p)
		})
		s.report.expect(len(v.Platforms) > 0 && !twice, "providers.versions.platforms", a.request, "version %s has the platforms %v", excerpt(v.Version), v.Platforms)
	}
	var checked []providerVersion
	for _, version := range ends(s.versionList("providers.versions.", a, all)) {
		checked = append(checked, list.Versions[slices.Index(all, version)])
	}
	return checked
}

func lastIndex[T comparable](list []T, element T) int {
	for i, e := range slices.Backward(list) {
		if e == element {
			return i
		}
	}
	return -1
}

type packageDocument struct {
	OS, Arch, Filename, Shasum string
	Protocols                  []string
	DownloadURL                string `json:"download_url"`
	ShasumsURL                 string `json:"shasums_url"`
	SignatureURL               string `json:"shasums_signature_url"`
	SigningKeys                struct {
		Keys []struct {
			ID    string `json:"key_id"`
			Armor string `json:"ascii_armor"`
		} `json:"gpg_public_keys"`
	} `json:"signing_keys"`
}

var sha256Sum = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (s session) providerPackage(ctx context.Context, u *url.URL, provider addrs.Provider, version providerVersion, platform providerPlatform) {
	a := s.document(ctx, "providers.package.", u, maxDocument)
	if a == nil {
		return
	}
	var p packageDocument
	if err := a.decode(&p); !s.report.expect(err == nil, "providers.package.json", a.request, "it has another form: %v", err) {
		return
	}
	s.report.expect(p.OS == platform.OS && p.Arch == platform.Arch, "providers.package.platform", a.request, "the package is for %s_%s", p.OS, p.Arch)
	s.report.expect(slices.Equal(sorted(p.Protocols), sorted(version.Protocols)), "providers.package.protocols", a.request,
		"the protocols are %q, and %q in the list of versions", p.Protocols, version.Protocols)
	name := fmt.Sprintf("terraform-provider-%s_%s_%s_%s.zip", provider.Type, version.Version, platform.OS, platform.Arch)
	s.report.expect(p.Filename == name, "providers.package.filename", a.request, "the file name is %s", excerpt(p.Filename))
	s.report.expect(sha256Sum.MatchString(p.Shasum), "providers.package.shasum", a.request, "the sum is %s", excerpt(p.Shasum))
	var at [3]*url.URL
	for i, text := range []string{p.DownloadURL, p.ShasumsURL, p.SignatureURL} {
		relative, err := url.Parse(text)
		if !s.report.expect(err == nil && text != "", "providers.package.urls", a.request, "a URL is %s", excerpt(addrs.Redact(text))) {
			return
		}
		at[i] = a.url.ResolveReference(relative)
	}
	s.signedSums(ctx, a, p, at[1], at[2])
	s.providerArchive(ctx, provider, at[0], p.Shasum)
}

func (s session) signedSums(ctx context.Context, a *answer, p packageDocument, sumsURL, signatureURL *url.URL) {
	var keys []signing.Key
	for _, k := range p.SigningKeys.Keys {
		keys = append(keys, signing.Key{ID: k.ID, Armor: k.Armor})
	}
	s.report.expect(len(keys) > 0, "providers.package.keys", a.request, "there are no keys")
	request := "GET " + addrs.Redact(sumsURL.String())
	document, err := s.ask(ctx, http.MethodGet, sumsURL, nil, signing.MaxSums)
	if !s.report.expect(err == nil && document.status == http.StatusOK, "providers.package.sums", request, "the document of sums cannot be fetched%s", because(document, err)) {
		return
	}
	err = signing.ParseSums(document.body).Check(p.Filename, p.Shasum)
	s.report.expect(err == nil, "providers.package.sums", request, "%v", err)
	request = "GET " + addrs.Redact(signatureURL.String())
	signature, err := s.ask(ctx, http.MethodGet, signatureURL, nil, signing.MaxSignature)
	if !s.report.expect(err == nil && signature.status == http.StatusOK, "providers.package.signature", request, "the signature cannot be fetched%s", because(signature, err)) || len(keys) == 0 {
		return
	}
	_, err = signing.Check(document.body, signature.body, keys, signing.Options{})
	s.report.expect(err == nil, "providers.package.signature", request, "%v", err)
}

// because returns the reason as the end of a sentence.
func because(a *answer, err error) string {
	if err != nil {
		return ": " + err.Error()
	}
	return fmt.Sprintf(": the status is %d", a.status)
}

// providerArchive compares an archive with its SHA-256 sum.
func (s session) providerArchive(ctx context.Context, provider addrs.Provider, u *url.URL, sum string) {
	request := "GET " + addrs.Redact(u.String())
	archive, err := s.download(ctx, u, nil)
	if !s.report.expect(err == nil, "providers.package.archive", request, "the archive cannot be fetched: %v", err) {
		return
	}
	defer archive.Close()
	if s.report.expect(archive.sum == sum, "providers.package.archive", request, "the archive has the sum %s", archive.sum) {
		s.expectProgram("providers.package.program", request, archive, provider.Type)
	}
}

// expectProgram looks for a provider's program in an archive. provider is "" if its type is not known.
func (s session) expectProgram(rule, request string, archive *packageFile, provider string) {
	names, err := archive.names()
	program := "terraform-provider-" + provider
	found := slices.ContainsFunc(names, func(name string) bool {
		rest, ok := strings.CutPrefix(name, program)
		return ok && (provider == "" || rest == "" || rest[0] == '_' || rest[0] == '.') && !strings.Contains(rest, "/")
	})
	s.report.expect(err == nil && found, rule, request, "the archive has no file %s%s", program, suffix(err))
}

func suffix(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }
