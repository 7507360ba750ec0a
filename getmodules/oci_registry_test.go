package getmodules_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

// pushModule pushes a module package in the same way as "oras push", and tags it.
func pushModule(t *testing.T, server *testenv.Registry, repository string, archive []byte, tags ...string) digest.Digest {
	t.Helper()
	repo := &remote.Repository{
		Client:    server.Client(),
		Reference: registry.Reference{Registry: server.Host(), Repository: repository},
	}
	layer := ocispec.Descriptor{MediaType: "archive/zip", Digest: digest.FromBytes(archive), Size: int64(len(archive))}
	manifest := ocispec.Manifest{
		MediaType:    ocispec.MediaTypeImageManifest,
		ArtifactType: "application/vnd.opentofu.modulepkg",
		Config:       ocispec.DescriptorEmptyJSON,
		Layers:       []ocispec.Descriptor{layer},
		Annotations:  map[string]string{ocispec.AnnotationCreated: "2020-01-01T00:00:00Z"},
	}
	manifest.SchemaVersion = 2
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for desc, data := range map[*ocispec.Descriptor][]byte{&layer: archive, &manifest.Config: []byte("{}")} {
		if err := repo.Push(t.Context(), *desc, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	desc := ocispec.Descriptor{MediaType: manifest.MediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	for _, tag := range tags {
		if err := repo.PushReference(t.Context(), desc, bytes.NewReader(text), tag); err != nil {
			t.Fatal(err)
		}
	}
	return desc.Digest
}

// TestOCIDockerRegistry fetches from Debian's docker-registry, an independent
// implementation.
func TestOCIDockerRegistry(t *testing.T) {
	t.Parallel()
	server := testenv.StartRegistry(t, "")
	tags := []string{"latest", "v1.2.0", "1.3.0_build.1"}
	for i := range 120 { // more than the registry's default page size
		tags = append(tags, fmt.Sprintf("0.0.%d", i))
	}
	id := pushModule(t, server, "acme/net", sampleZip(), tags...)
	f := newHTTPFetcher()
	f.HTTPClient = server.Client()
	address := "oci://" + server.Host() + "/acme/net"
	for _, rest := range []string{"", "?tag=v1.2.0", "?digest=" + id.String()} {
		got, pkg, err := fetchURL(t, f, address+rest)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sampleTree, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", rest, diff)
		}
		if pkg.Revision != id.String() || pkg.ArchiveSum != "zh:"+digest.FromBytes(sampleZip()).Encoded() {
			t.Errorf("%q: %+v, want the revision %s", rest, pkg, id)
		}
	}
	repo, err := f.OCIRepository(t.Context(), getmodules.Request{Package: pkgOf(address)})
	if err != nil {
		t.Fatal(err)
	}
	found, err := versions.FromOCITags(t.Context(), repo)
	if err != nil || len(found) != 122 {
		t.Errorf("List = %d versions, %v, want 122", len(found), err)
	}
	if got, err := repo.Resolve(t.Context(), "v1.2.0"); got.Digest != id || err != nil {
		t.Errorf("Resolve = %v, %v, want %q", got, err, id)
	}
}
