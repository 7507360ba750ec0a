package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/versions"
)

// OCIRepository checks the repository oci://HOST/REPOSITORY, which has the packages of a module or mirrors
// a provider, and at least a tag. A registry on the loopback interface may speak HTTP. The error is that of
// the address, the credentials or the context; the server's faults are in the report.
func (c Client) OCIRepository(ctx context.Context, address string) (*Report, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "oci" || u.Host == "" || len(u.Path) < 2 || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("%q is not the address of an OCI repository, which has the form oci://HOST/REPOSITORY", address)
	}
	r := repository{session: c.session(address), registry: &url.URL{Scheme: "https", Host: u.Host, Path: "/v2/"}, name: u.Path[1:]}
	var credential getmodules.OCICredential
	if c.OCICredentials != nil {
		if credential, err = c.OCICredentials(ctx, u.Host, r.name); err != nil {
			return nil, err
		}
	}
	r.challenge(ctx, u.Hostname())
	r.do = (&auth.Client{
		Client:     c.httpClient(),
		Cache:      auth.NewCache(),
		Credential: auth.StaticCredential(u.Host, auth.Credential(credential)),
	}).Do
	ctx = auth.WithScopes(ctx, auth.ScopeRepository(r.name, auth.ActionPull))
	for _, tag := range r.tags(ctx) {
		r.tagged(ctx, tag)
	}
	r.missing(ctx, "oci.manifest.unknown", r.at("manifests", unknownName), manifestTypes)
	r.missing(ctx, "oci.blob.unknown", r.at("blobs", "sha256:"+strings.Repeat("0", 64)), nil)
	// This needs a token of its own.
	unknown := auth.WithScopes(ctx, auth.ScopeRepository(unknownName, auth.ActionPull))
	r.missing(unknown, "oci.tags.unknown", r.registry.JoinPath(unknownName, "tags", "list"), nil)
	return r.finish(ctx)
}

type repository struct {
	session
	registry *url.URL // https://HOST/v2/
	name     string
}

func (r repository) at(kind, reference string) *url.URL {
	return r.registry.JoinPath(r.name, kind, reference)
}

var manifestTypes = http.Header{"Accept": {oci.ManifestType, oci.IndexType}}

// challenge checks a request without credentials, and finds out whether a loopback registry speaks HTTP.
func (r repository) challenge(ctx context.Context, host string) {
	u := r.at("tags", "list")
	a, err := r.ask(ctx, http.MethodGet, u, nil, maxDocument)
	if addr, parseErr := netip.ParseAddr(host); err != nil && (host == "localhost" || parseErr == nil && addr.IsLoopback()) {
		r.registry.Scheme = "http"
		u = r.at("tags", "list")
		a, err = r.ask(ctx, http.MethodGet, u, nil, maxDocument)
	}
	if err != nil || a.status != http.StatusUnauthorized {
		return // the next request finds the same
	}
	challenge := a.header.Get("WWW-Authenticate")
	scheme, parameters, _ := strings.Cut(challenge, " ")
	ok := strings.EqualFold(scheme, "Basic") || strings.EqualFold(scheme, "Bearer") && strings.Contains(parameters, "realm=")
	r.report.expect(ok, "oci.challenge", a.request, "the header is %s", excerpt(challenge))
}

var tagSyntax = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)

// tags returns the newest and the oldest version, or else any tag.
func (r repository) tags(ctx context.Context) []string {
	u := r.at("tags", "list")
	a := r.list(ctx, u)
	if a == nil {
		return nil
	}
	r.report.expect(a.Name == r.name, "oci.tags.json", a.request, "the name is %s", excerpt(a.Name))
	strange := slices.DeleteFunc(slices.Clone(a.Tags), tagSyntax.MatchString)
	r.report.expect(len(strange) == 0, "oci.tags.tag", a.request, "there are the tags %s", excerpt(strings.Join(strange, " ")))
	if len(a.Tags) > 1 {
		r.pages(ctx, u, len(a.Tags))
	}
	valid := slices.DeleteFunc(slices.Clone(a.Tags), func(tag string) bool { return !tagSyntax.MatchString(tag) })
	versioned := slices.DeleteFunc(slices.Clone(valid), func(tag string) bool { _, err := versions.Parse(oci.VersionOfTag(tag)); return err != nil })
	if len(versioned) == 0 {
		return valid[:min(1, len(valid))]
	}
	slices.SortFunc(versioned, func(a, b string) int {
		return versions.MustParse(oci.VersionOfTag(b)).Compare(versions.MustParse(oci.VersionOfTag(a)))
	})
	return ends(versioned)
}

// tagList is one page.
type tagList struct {
	*answer
	Name string
	Tags []string
}

func (r repository) list(ctx context.Context, u *url.URL) *tagList {
	a, _ := r.answered(ctx, "oci.tags.status", u, nil, maxDocument, http.StatusOK)
	if a == nil {
		return nil
	}
	list := tagList{answer: a}
	err := a.decode(&list)
	if !r.report.expect(err == nil && len(list.Tags) > 0, "oci.tags.json", a.request, "there are no tags in %s%s", excerpt(string(a.body)), suffix(err)) {
		return nil
	}
	return &list
}

// pages reads one tag a page.
func (r repository) pages(ctx context.Context, u *url.URL, want int) {
	next := *u
	next.RawQuery = "n=1"
	request := "GET " + next.String()
	got := 0
	for got < want {
		page := r.list(ctx, &next)
		if page == nil {
			return
		}
		if !r.report.expect(len(page.Tags) == 1, "oci.tags.pages", page.request, "the page has %d tags", len(page.Tags)) {
			return
		}
		got++
		link := page.header.Get("Link")
		target, _, found := strings.Cut(strings.TrimPrefix(link, "<"), ">")
		if !found {
			break
		}
		relative, err := url.Parse(target)
		if !r.report.expect(err == nil && strings.Contains(link, `rel="next"`), "oci.tags.pages", page.request, "the header Link is %s", excerpt(link)) {
			return
		}
		next = *next.ResolveReference(relative)
	}
	r.report.expect(got == want, "oci.tags.pages", request, "the pages have %d of %d tags", got, want)
}

func (r repository) tagged(ctx context.Context, tag string) {
	a := r.manifest(ctx, tag)
	if a == nil {
		return
	}
	r.head(ctx, tag, a)
	digest := oci.Describe(a.body).Digest
	again, err := r.ask(ctx, http.MethodGet, r.at("manifests", digest), manifestTypes, maxManifest)
	r.report.expect(err == nil && string(again.body) == string(a.body), "oci.manifest.by-digest", "GET "+r.at("manifests", digest).String(),
		"the manifest of tag %s cannot be requested by its digest", tag)
	if oci.IsIndex(a.mediaType()) {
		r.providerIndex(ctx, tag, a)
		return
	}
	if !r.expectArtifact("oci.module.artifact", a, oci.ModuleArtifact) {
		return
	}
	archive, request := r.archive(ctx, "oci.module.layer", a, oci.ModuleArtifact)
	if archive == nil {
		return
	}
	defer archive.Close()
	names, err := archive.names()
	r.report.expect(err == nil && len(names) > 0, "oci.module.archive", request, "it has no files%s", suffix(err))
}

// manifest checks what holds for all manifests. It returns nil if it cannot be read on.
func (r repository) manifest(ctx context.Context, reference string) *answer {
	u := r.at("manifests", reference)
	a, err := r.answered(ctx, "oci.manifest.status", u, manifestTypes, maxManifest, http.StatusOK)
	if a == nil {
		return nil
	}
	var fields struct {
		SchemaVersion int
		MediaType     string
	}
	if err == nil {
		err = a.decode(&fields)
	}
	if !r.report.expect(err == nil && fields.SchemaVersion == 2, "oci.manifest.json", a.request, "it is %s%s", excerpt(string(a.body)), suffix(err)) {
		return nil
	}
	r.report.expect(fields.MediaType == "" || fields.MediaType == a.mediaType(), "oci.manifest.type", a.request,
		"the content type is %s, and in the manifest %s", excerpt(a.mediaType()), excerpt(fields.MediaType))
	if digest := a.header.Get("Docker-Content-Digest"); digest != "" { // it is optional
		r.report.expect(digest == oci.Describe(a.body).Digest, "oci.manifest.digest", a.request, "the header is %s", excerpt(digest))
	}
	return a
}

// head compares HEAD with GET.
func (r repository) head(ctx context.Context, tag string, a *answer) {
	got, err := r.ask(ctx, http.MethodHead, r.at("manifests", tag), manifestTypes, maxManifest)
	request := "HEAD " + r.at("manifests", tag).String()
	if !r.report.expect(err == nil, "oci.manifest.head", request, "there is no answer: %v", err) {
		return
	}
	length := got.header.Get("Content-Length")
	same := got.status == a.status && (length == "" || length == strconv.Itoa(len(a.body))) &&
		got.header.Get("Docker-Content-Digest") == a.header.Get("Docker-Content-Digest")
	r.report.expect(same, "oci.manifest.head", request, "the status is %d, the length %s and the digest %s",
		got.status, excerpt(length), excerpt(got.header.Get("Docker-Content-Digest")))
}

func (r repository) expectArtifact(rule string, a *answer, want string) bool {
	var fields struct{ ArtifactType string }
	_ = json.Unmarshal(a.body, &fields) // it was parsed before
	return r.report.expect(fields.ArtifactType == want, rule, a.request, "the artifact type is %s", excerpt(fields.ArtifactType))
}

// providerIndex also checks the packages of the first platforms.
func (r repository) providerIndex(ctx context.Context, tag string, a *answer) {
	_, err := versions.Parse(oci.VersionOfTag(tag))
	r.report.expect(err == nil, "oci.provider.tag", a.request, "the tag is %s", excerpt(tag))
	if !r.expectArtifact("oci.provider.index", a, oci.ProviderArtifact) {
		return
	}
	index, err := oci.ParseIndex(oci.IndexType, a.body)
	if !r.report.expect(err == nil && len(index.Targets) > 0, "oci.provider.index", a.request, "the index has no platforms%s", suffix(err)) {
		return
	}
	for _, target := range index.Targets[:min(MaxPlatforms, len(index.Targets))] {
		m := r.manifest(ctx, target.Digest)
		if m == nil {
			continue
		}
		r.report.expect(oci.Describe(m.body).Digest == target.Digest, "oci.manifest.by-digest", m.request, "the manifest has another digest")
		if !r.expectArtifact("oci.provider.artifact", m, oci.TargetArtifact) {
			continue
		}
		if archive, request := r.archive(ctx, "oci.provider.layer", m, oci.TargetArtifact); archive != nil {
			r.expectProgram("oci.provider.archive", request, archive, "")
			archive.Close()
		}
	}
}

// archive downloads the layer of a manifest, by the rule for it. It returns nil if the
// manifest has no usable layer or its blob cannot be read. request names the request for the blob.
func (r repository) archive(ctx context.Context, rule string, a *answer, artifact string) (archive *packageFile, request string) {
	manifest, err := oci.ParseManifest(oci.ManifestType, a.body, artifact)
	var layer oci.Descriptor
	if err == nil {
		layer, err = manifest.Archive()
	}
	if !r.report.expect(err == nil, rule, a.request, "%v", err) {
		return nil, ""
	}
	return r.blob(ctx, layer.Digest, layer.Size), "GET " + r.at("blobs", layer.Digest).String()
}

// blob checks size and digest. It returns nil if the blob cannot be read on.
func (r repository) blob(ctx context.Context, digest string, size int64) *packageFile {
	request := "GET " + r.at("blobs", digest).String()
	blob, err := r.download(ctx, r.at("blobs", digest), nil)
	if !r.report.expect(err == nil, "oci.blob.status", request, "the blob cannot be fetched: %v", err) {
		return nil
	}
	same := blob.size == size && (!strings.HasPrefix(digest, "sha256:") || digest == "sha256:"+blob.sum)
	if !r.report.expect(same, "oci.blob.content", request, "it has %d bytes of %d, and the SHA-256 digest %s", blob.size, size, blob.sum) {
		blob.Close()
		return nil
	}
	return blob
}
