package getproviders_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/httpx/webtest"
	"github.com/cotterpin/cotter/internal/oci"
)

// fixed gives the same answer to every request.
type fixed struct{ body string }

func (f fixed) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(strings.NewReader(f.body)),
		ContentLength: int64(len(f.body)),
	}, nil
}

// FuzzNetworkMirror parses any text as both kinds of documents of a mirror.
func FuzzNetworkMirror(f *testing.F) {
	for _, seed := range []string{
		`{"versions": {"1.0.0": {}, "latest": null}}`,
		`{"archives": {"linux_amd64": {"url": "x.zip", "hashes": ["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "zh:"]}}}`,
		`{"archives": {"linux_amd64": {"url": "https://u:p@example.com:99999/%zz"}}}`,
		`{"archives": null}`, `[]`, `{"versions": 1}`,
	} {
		f.Add(seed)
	}
	x := provider(f, "acme/x")
	f.Fuzz(func(t *testing.T, body string) {
		m := &getproviders.NetworkMirror{
			URL:        &url.URL{Scheme: "https", Host: "mirror.example.com"},
			HTTPClient: &http.Client{Transport: fixed{body}},
		}
		listing, err := m.Versions(t.Context(), x)
		checkMirrorError(t, err)
		for i, v := range listing.Versions {
			if v.Version.IsZero() || i > 0 && v.Version.Compare(listing.Versions[i-1].Version) < 0 {
				t.Errorf("the versions are %v", shown(listing))
			}
		}
		p, err := m.Package(t.Context(), x, one, linux)
		checkMirrorError(t, err)
		if err != nil {
			return
		}
		webtest.CheckText(t, p.Location())
		if u, err := url.Parse(p.Location()); err != nil || u.Scheme != "https" || u.User != nil {
			t.Errorf("the location is %q, %v", p.Location(), err)
		}
	})
}

func checkMirrorError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if _, ok := errors.AsType[*getproviders.MirrorError](err); !ok {
		t.Errorf("the error is %v, want *MirrorError", err)
	}
	webtest.CheckText(t, err.Error())
}

// FuzzOCIArtifact parses any text as the index and as the manifest of a provider.
func FuzzOCIArtifact(f *testing.F) {
	f.Add(ociIndexText(ociTarget{"linux", "amd64", "sha256:" + strings.Repeat("0", 64)}))
	f.Add(ociManifestText(archive))
	f.Add(`{"manifests": [null], "layers": null}`)
	f.Fuzz(func(t *testing.T, text string) {
		index := oci.Document{MediaType: ociIndexType, Text: []byte(text)}
		target, err := getproviders.ParseOCIIndex(index, linux)
		if err == nil && !strings.HasPrefix(target.Digest, "sha") {
			t.Errorf("the digest is %q", target.Digest)
		}
		manifest := oci.Document{MediaType: ociManifestType, Text: []byte(text)}
		layer, err := getproviders.ParseOCITarget(manifest)
		if err == nil && layer.Size <= 0 {
			t.Errorf("the layer is %v", layer)
		}
		if err != nil {
			webtest.CheckText(t, err.Error())
		}
	})
}

func FuzzRepositoryTemplate(f *testing.F) {
	for _, seed := range []string{"example.com/${hostname}/${ namespace }/${type}", "example.com/$${type}", "${hostname}/${", "a/${type}${type}", "1/00"} {
		f.Add(seed)
	}
	x := provider(f, "acme/x")
	f.Fuzz(func(t *testing.T, text string) {
		template, err := getproviders.ParseRepositoryTemplate(text)
		if err != nil {
			return
		}
		host, path, err := template.Expand(x)
		if err != nil {
			return // such as "${type}.": whether it ends well depends on the provider
		}
		if _, err := new(getmodules.Fetcher).OpenOCI(t.Context(), host, path); err != nil {
			t.Errorf("%q: %q is no repository: %v", text, host+"/"+path, err)
		}
	})
}
