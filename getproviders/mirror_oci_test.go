package getproviders_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/net/oci/registrytest"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/ocistore"
	"github.com/cotterpin/cotter/versions"
)

const (
	ociIndexType    = "application/vnd.oci.image.index.v1+json"
	ociManifestType = "application/vnd.oci.image.manifest.v1+json"
)

type ociTarget struct{ os, arch, digest string }

// ociIndexText returns an index in the form in which "oras manifest index create" writes it.
func ociIndexText(targets ...ociTarget) string {
	var manifests []string
	for _, m := range targets {
		manifests = append(manifests, fmt.Sprintf(`{
			"mediaType": %q, "artifactType": "application/vnd.opentofu.provider-target",
			"digest": %q, "size": 2, "platform": {"os": %q, "architecture": %q}
		}`, ociManifestType, m.digest, m.os, m.arch))
	}
	return fmt.Sprintf(`{
		"schemaVersion": 2, "mediaType": %q, "artifactType": "application/vnd.opentofu.provider",
		"manifests": [%s]
	}`, ociIndexType, strings.Join(manifests, ", "))
}

func ociManifestText(archive string) string {
	return fmt.Sprintf(`{
		"schemaVersion": 2, "mediaType": %q, "artifactType": "application/vnd.opentofu.provider-target",
		"layers": [
			{"mediaType": "text/plain", "digest": "x", "size": 1},
			{"mediaType": "archive/zip", "digest": %q, "size": %d}
		]
	}`, ociManifestType, sha(archive), len(archive))
}

func sha(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

func ociMirror(t testing.TB, repository, template string, texts map[string]string) (*getproviders.OCIMirror, *webtest.Web) {
	t.Helper()
	paths := map[string]string{}
	for path, text := range texts {
		paths["/v2/"+repository+"/"+path] = text
	}
	web := webtest.New(t)
	web.Serve("https://oci.example.com", pages(paths))
	parsed, err := getproviders.ParseRepositoryTemplate(template)
	testenv.Must(t, err)
	return &getproviders.OCIMirror{
		Repository: parsed,
		Fetcher:    &getmodules.Fetcher{HTTPClient: web.Client(), Backoff: func(int) time.Duration { return 0 }},
	}, web
}

// TestOCIMirror also counts the requests: one each for the tags, the index, the manifest and the
// archive.
func TestOCIMirror(t *testing.T) {
	t.Parallel()
	manifest := ociManifestText(archive)
	index := ociIndexText(ociTarget{"windows", "amd64", sha("other")}, ociTarget{"linux", "amd64", sha(manifest)})
	m, web := ociMirror(t, "mirror/registry.opentofu.org/acme/x", "oci.example.com/mirror/${hostname}/${ namespace }/${type}", map[string]string{
		"tags/list":                  `{"tags": ["1.0.0", "1.2.0_build.1", "1.1.0-rc.1", "v2.0.0", "latest"]}`,
		"manifests/1.2.0_build.1":    index,
		"manifests/" + sha(manifest): manifest,
		"blobs/" + sha(archive):      archive,
	})
	x := provider(t, "acme/x")
	listing, err := m.Versions(t.Context(), x)
	got := map[string]bool{}
	for _, v := range listing.Versions {
		got[v.Version.String()] = true
	}
	if diff := gocmp.Diff(map[string]bool{"1.0.0": true, "1.2.0+build.1": true, "1.1.0-rc.1": true}, got); diff != "" || err != nil {
		t.Errorf("Versions: %v; (-want +got):\n%s", err, diff)
	}
	p, err := m.Package(t.Context(), x, versions.MustParse("1.2.0+build.1"), linux)
	testenv.Must(t, err)
	if p.Archive() != zh(archive) || p.Dir() != "" || p.Location() != "oci://oci.example.com/mirror/registry.opentofu.org/acme/x@"+sha(manifest) {
		t.Errorf("Package: %q at %q", p.Archive(), p.Location())
	}
	proof, err := p.Authenticate(t.Context())
	by := evidence.Evidence{Kind: evidence.Mirror, By: "the mirror oci://oci.example.com/mirror/${hostname}/${ namespace }/${type}"}
	if diff := gocmp.Diff(getproviders.Authentication{Evidence: by, Hashes: []hashing.Hash{zh(archive)}, Own: []hashing.Hash{zh(archive)}}, proof); diff != "" || err != nil {
		t.Errorf("Authenticate: %v; (-want +got):\n%s", err, diff)
	}
	if text, err := received(t, p); text != archive || err != nil {
		t.Errorf("received %q, %v", text, err)
	}
	if requests := web.Requests(); len(requests) != 4 {
		t.Errorf("there were %d requests: %v", len(requests), requests)
	}
}

func TestOCIMirrorFailures(t *testing.T) {
	t.Parallel()
	manifest := ociManifestText(archive)
	good := ociTarget{"linux", "amd64", sha(manifest)}
	index := ociIndexText(good)
	size := fmt.Sprintf(`"size": %d`, len(archive))
	for name, test := range map[string]struct {
		index, manifest string // "" stands for a good one
		want            error
		text            string
	}{
		"another platform":     {index: ociIndexText(ociTarget{"linux", "arm64", sha(manifest)}), want: getproviders.ErrUnsupportedPlatform},
		"an empty index":       {index: ociIndexText(), want: getproviders.ErrUnsupportedPlatform},
		"no artifact type":     {index: strings.Replace(index, `"artifactType": "application/vnd.opentofu.provider-target",`, "", 1), want: getproviders.ErrInvalidMirror, text: "an entry for linux_amd64 that is no package of a provider: it has no artifact type, like a container image; push it"},
		"an image":             {index: strings.Replace(index, "opentofu.provider-target", "oci.image", 1), want: getproviders.ErrInvalidMirror, text: `its artifact type is "application/vnd.oci.image"`},
		"another's image":      {index: strings.Replace(ociIndexText(ociTarget{"linux", "arm64", sha(manifest)}), "opentofu.provider-target", "oci.image", 1), want: getproviders.ErrUnsupportedPlatform},
		"an index below":       {index: strings.Replace(index, ociManifestType, ociIndexType, 1), want: getproviders.ErrInvalidMirror, text: "its media type is"},
		"twice":                {index: ociIndexText(good, good), want: getproviders.ErrInvalidMirror, text: "several manifests"},
		"a module":             {index: strings.Replace(index, "opentofu.provider\"", "opentofu.modulepkg\"", 1), want: getproviders.ErrInvalidMirror, text: "artifact type"},
		"no index":             {index: manifest, want: getproviders.ErrInvalidMirror, text: "media type"},
		"bad digest":           {index: ociIndexText(ociTarget{"linux", "amd64", "sha256:x"}), want: getproviders.ErrInvalidMirror, text: "digest"},
		"both":                 {index: strings.Replace(index, "{", `{"layers": [], `, 1), want: getproviders.ErrInvalidMirror, text: "something else"},
		"the manifest is gone": {index: index, manifest: "{}", want: getproviders.ErrInvalidMirror, text: "missing"},
		"another artifact":     {manifest: strings.Replace(manifest, "provider-target", "provider", 1), want: getproviders.ErrInvalidMirror, text: "artifact type"},
		"no archive":           {manifest: strings.Replace(manifest, "archive/zip", "text/plain", 1), want: getproviders.ErrInvalidMirror, text: "0 layers"},
		"two archives":         {manifest: strings.Replace(manifest, "text/plain", "archive/zip", 1), want: getproviders.ErrInvalidMirror, text: "2 layers"},
		"no size":              {manifest: strings.Replace(manifest, size, `"size": 0`, 1), want: getproviders.ErrInvalidMirror, text: "size"},
		"huge":                 {manifest: strings.Replace(manifest, size, `"size": 9999999999999`, 1), want: getproviders.ErrTooLarge, text: "more than"},
	} {
		manifest := cmp.Or(test.manifest, manifest)
		index := cmp.Or(test.index, ociIndexText(ociTarget{"linux", "amd64", sha(manifest)}))
		m, _ := ociMirror(t, "acme/x", "oci.example.com/${namespace}/${type}", map[string]string{"manifests/1.0.0": index, "manifests/" + sha(manifest): manifest})
		_, err := m.Package(t.Context(), provider(t, "acme/x"), one, linux)
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v, want %v with %q", name, err, test.want, test.text)
		}
	}
	m, _ := ociMirror(t, "acme/x", "oci.example.com/${namespace}/${type}", map[string]string{"manifests/1.0.0": index, "manifests/" + sha(manifest): manifest})
	for _, source := range []string{"acme/none", "acme/straße"} { // the second cannot be the name of a repository
		if _, err := m.Versions(t.Context(), provider(t, source)); !errors.Is(err, getproviders.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", source, err)
		}
	}
	if _, err := m.Package(t.Context(), provider(t, "acme/x"), versions.MustParse("2.0.0"), linux); !errors.Is(err, getproviders.ErrNotFound) {
		t.Errorf("no such tag: %v", err)
	}
	p, err := m.Package(t.Context(), provider(t, "acme/x"), one, linux)
	testenv.Must(t, err)
	if _, err := received(t, p); err == nil {
		t.Error("an archive that is missing was downloaded")
	}
}

func TestOCIMirrorDockerRegistry(t *testing.T) {
	t.Parallel()
	registry := registrytest.Start(t, "")
	fetcher := &getmodules.Fetcher{HTTPClient: registry.Client()}
	template, err := getproviders.ParseRepositoryTemplate(registry.Host() + "/mirror/${namespace}/${type}")
	testenv.Must(t, err)
	x := provider(t, "acme/x")
	target := artifact.Provider{
		Statement: artifact.ProviderStatement{Release: artifact.Release{Provider: x, Version: versions.MustParse("1.2.0")}, Platform: linux, Hashes: []hashing.Hash{h1, zh(archive)}},
		Layer:     oci.Describe([]byte(archive)),
	}
	manifest, err := target.Manifest()
	testenv.Must(t, err)
	index, err := target.Statement.Index(artifact.Targets{{Platform: linux, Descriptor: oci.Describe(manifest)}})
	testenv.Must(t, err)
	writer, err := fetcher.OCIWriter(registry.Host(), "mirror/acme/x")
	testenv.Must(t, err)
	for _, blob := range []string{"{}", archive} {
		_, err := writer.PushBlob(t.Context(), ocispec.Descriptor{Digest: digest.FromString(blob), Size: int64(len(blob))}, strings.NewReader(blob), true)
		testenv.Must(t, err)
	}
	testenv.Must(t, writer.PushManifest(t.Context(), sha(string(manifest)), ociManifestType, manifest))
	testenv.Must(t, writer.PushManifest(t.Context(), "1.2.0", ociIndexType, index))

	m := &getproviders.OCIMirror{Repository: template, Fetcher: fetcher}
	listing, err := m.Versions(t.Context(), x)
	if err != nil || len(listing.Versions) != 1 || listing.Versions[0].Version.String() != "1.2.0" {
		t.Fatalf("Versions: %v, %v", listing, err)
	}
	p, err := m.Package(t.Context(), x, listing.Versions[0].Version, linux)
	testenv.Must(t, err)
	if text, err := received(t, p); text != archive || err != nil || p.Archive() != zh(archive) {
		t.Errorf("received %q as %s, %v", text, p.Archive(), err)
	}
}

func TestRepositoryTemplate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"example.com/${hostname}/${namespace}/${type}":     "example.com registry.opentofu.org/acme/x",
		"example.com:5000/a/${ hostname }-${namespace}/x":  "example.com:5000 a/registry.opentofu.org-acme/x",
		"${hostname}/${namespace}/${type}":                 "registry.opentofu.org acme/x",
		"example.com/x":                                    "example.com x",
		"":                                                 "",
		"example.com":                                      "",
		"example.com/":                                     "",
		"example.com/X/${type}":                            "",
		"example.com/${type}:1":                            "",
		"example.com/$${type}":                             "",
		"example.com/${foo}":                               "",
		"example.com/${type":                               "",
		"example.com/${upper(type)}":                       "",
		"https://example.com/${hostname}":                  "",
		"example.com/${hostname}/${namespace}/${type}?x=1": "",
		"example.com/../${hostname}":                       "",
		"example.com/%{if true}x%{endif}/${type}":          "",
	} {
		template, err := getproviders.ParseRepositoryTemplate(text)
		if (err == nil) != (want != "") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil {
			continue
		}
		host, path, err := template.Expand(provider(t, "acme/x"))
		if got := host + " " + path; got != want || err != nil || template.String() != text {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

// manyTags are repositories with a long list of versions.
type manyTags struct{ ocistore.Repository }

func (m manyTags) OpenOCI(context.Context, string, string) (ocistore.Repository, error) {
	return m, nil
}

func (manyTags) Tags(_ context.Context, _ string, page func([]string) error) error {
	tags := make([]string, 90_000)
	for i := range tags {
		tags[i] = fmt.Sprintf("1.0.%d", i)
	}
	return page(tags)
}

// TestOCIMirrorLists counts what mirrors list for a run, which keeps it in memory.
func TestOCIMirrorLists(t *testing.T) {
	t.Parallel()
	template, err := getproviders.ParseRepositoryTemplate("oci.example.com/${namespace}/${type}")
	testenv.Must(t, err)
	m := &getproviders.OCIMirror{Repository: template, Fetcher: manyTags{}}
	testenv.LastExceedsRun(t, 6, func(ctx context.Context, i int) error {
		_, err := m.Versions(ctx, provider(t, fmt.Sprintf("acme/x%d", i)))
		return err
	})
}

// TestOCIMirrorIndexes counts indexes for a run, which keeps them in memory: the eighth one of the largest size exceeds its
// limit.
func TestOCIMirrorIndexes(t *testing.T) {
	t.Parallel()
	texts := make(map[string]string)
	for i := range 8 {
		index := ociIndexText(ociTarget{"linux", "arm", sha(fmt.Sprint(i))})
		index += strings.Repeat(" ", 4<<20-len(index))
		texts[fmt.Sprintf("manifests/1.0.%d", i)] = index
	}
	m, _ := ociMirror(t, "acme/x", "oci.example.com/${namespace}/${type}", texts)
	testenv.LastExceedsRun(t, 8, func(ctx context.Context, i int) error {
		_, err := m.Package(ctx, provider(t, "acme/x"), versions.MustParse(fmt.Sprintf("1.0.%d", i)), linux)
		if errors.Is(err, getproviders.ErrUnsupportedPlatform) { // it is not in the index
			return nil
		}
		return err
	})
}
