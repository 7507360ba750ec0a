package oci_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/oci"
)

func TestDigest(t *testing.T) {
	t.Parallel()
	sha256, sha512 := "sha256:"+strings.Repeat("0a", 32), "sha512:"+strings.Repeat("0a", 64)
	for _, test := range []struct {
		digest             string
		isDigest, isSHA256 bool
	}{
		{sha256, true, true},
		{sha512, true, false},
		{strings.ToUpper(sha256), false, false},
		{sha256 + "0", false, false},
		{sha256[:70], false, false},
		{"sha512:" + strings.Repeat("0a", 32), false, false},
		{"sha256:" + strings.Repeat("0", 62) + "/.", false, false},
		{"sha256:" + strings.Repeat("0", 62) + "\n0", false, false},
		{"md5:d41d8cd98f00b204e9800998ecf8427e", false, false},
		{strings.Repeat("0a", 32), false, false},
		{"", false, false},
	} {
		if oci.IsDigest(test.digest) != test.isDigest || oci.IsSHA256(test.digest) != test.isSHA256 {
			t.Errorf("%q: IsDigest = %v, IsSHA256 = %v", test.digest, oci.IsDigest(test.digest), oci.IsSHA256(test.digest))
		}
	}
}

// The texts are pinned, because the same locks must give the same bundles in every release.
func TestDocumentsArePinned(t *testing.T) {
	t.Parallel()
	manifest := oci.Manifest{
		ArtifactType: oci.ModuleArtifact,
		Layers:       []oci.Layer{{MediaType: oci.ArchiveType, Descriptor: oci.Describe([]byte("layer"))}},
		Annotations:  map[string]string{"b": "2", "a": "1"},
	}
	text, err := manifest.Encode()
	const wantManifest = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":"application/vnd.opentofu.modulepkg",` +
		`"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},` +
		`"layers":[{"mediaType":"archive/zip","digest":"sha256:dac1d7cfa95021764849fd102524e141488c5e3a90f861dbb5a12d9ac8584f85","size":5}],"annotations":{"a":"1","b":"2"}}`
	if diff := cmp.Diff(wantManifest, string(text)); diff != "" || err != nil {
		t.Errorf("Encode: %v (-want +got):\n%s", err, diff)
	}
	parsed, err := oci.ParseManifest(oci.ManifestType, text, oci.ModuleArtifact)
	if diff := cmp.Diff(&manifest, parsed); diff != "" || err != nil {
		t.Errorf("ParseManifest: %v (-want +got):\n%s", err, diff)
	}
	at := oci.Describe(text)
	index := oci.Index{Targets: []oci.Target{
		{Platform: addrs.Platform{OS: "darwin", Arch: "arm64"}, Descriptor: at},
		{Platform: addrs.Platform{OS: "linux", Arch: "amd64"}, Descriptor: at},
	}}
	text, err = index.Encode()
	entry := `{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"` + at.Digest + `","size":442,"platform":{"architecture":"ARCH","os":"OS"},"artifactType":"application/vnd.opentofu.provider-target"}`
	wantIndex := `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","artifactType":"application/vnd.opentofu.provider","manifests":[` +
		strings.NewReplacer("OS", "darwin", "ARCH", "arm64").Replace(entry) + "," + strings.NewReplacer("OS", "linux", "ARCH", "amd64").Replace(entry) + "]}"
	if diff := cmp.Diff(wantIndex, string(text)); diff != "" || err != nil {
		t.Errorf("Encode: %v (-want +got):\n%s", err, diff)
	}
	parsedIndex, err := oci.ParseIndex(oci.IndexType, text)
	if diff := cmp.Diff(&index, parsedIndex); diff != "" || err != nil {
		t.Errorf("ParseIndex: %v (-want +got):\n%s", err, diff)
	}
}

// FuzzParse checks that what is parsed can be written and parsed again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(manifest))
	f.Add([]byte(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","artifactType":"application/vnd.opentofu.provider","manifests":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if m, err := oci.ParseManifest(oci.ManifestType, text, oci.ModuleArtifact); err == nil {
			again, err := m.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if parsed, err := oci.ParseManifest(oci.ManifestType, again, oci.ModuleArtifact); err != nil || len(parsed.Layers) != len(m.Layers) {
				t.Errorf("ParseManifest = %+v, %v, want %+v", parsed, err, m)
			}
			if layer, err := m.Archive(); err == nil && (!oci.IsDigest(layer.Digest) || layer.Size <= 0) {
				t.Errorf("Archive = %+v", layer)
			}
		}
		if x, err := oci.ParseIndex(oci.IndexType, text); err == nil {
			again, err := x.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if parsed, err := oci.ParseIndex(oci.IndexType, again); err != nil || len(parsed.Targets) != len(x.Targets) {
				t.Errorf("ParseIndex = %+v, %v, want %+v", parsed, err, x)
			}
		}
	})
}

// TestDuplicateKeys refuses documents in which scanners see something else. Annotations may differ in case.
func TestDuplicateKeys(t *testing.T) {
	t.Parallel()
	const layers = `"layers":[{"mediaType":"archive/zip","digest":"sha256:1","size":1}]`
	document := func(more string) []byte {
		return []byte(`{"schemaVersion":2,"mediaType":"` + oci.ManifestType + `","artifactType":"` + oci.ModuleArtifact + `",` + more + layers + `}`)
	}
	for more, accepted := range map[string]bool{
		"": true, `"annotations":{"a":"1","A":"2"},`: true, `"other":1,"other":2,`: true,
		`"layers":[],`: false, `"LAYERS":[],`: false, `"lay\u0065rs":[],`: false, `"ArtifactType":"x",`: false, `"annotations":{"a":"1","a":"2"},`: false,
		`"config":{"digest":"sha256:1","Digest":"sha256:2"},`: false, `"MANIFESTS":null,"manifests":null,`: false,
	} {
		if _, err := oci.ParseManifest(oci.ManifestType, document(more), oci.ModuleArtifact); (err == nil) != accepted {
			t.Errorf("a manifest with %s: error is %v", more, err)
		}
	}
	for more, accepted := range map[string]bool{`"manifests":[]`: true, `"manifests":[],"Manifests":[]`: false, `"manifests":[{"platform":{"os":"linux","OS":"darwin"}}]`: false} {
		text := []byte(`{"mediaType":"` + oci.IndexType + `","artifactType":"` + oci.ProviderArtifact + `",` + more + `}`)
		if _, err := oci.ParseIndex(oci.IndexType, text); (err == nil) != accepted {
			t.Errorf("an index with %s: error is %v", more, err)
		}
	}
}
