package getproviders_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/testenv"
)

// push stores content in a registry through its protocol.
func push(t *testing.T, client *http.Client, method, address, mediaType, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	testenv.Must(t, err)
	req.Header.Set("Content-Type", mediaType)
	resp, err := client.Do(req)
	testenv.Must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s", method, address, resp.Status)
	}
	return resp
}

// pushBlob stores a blob and returns its descriptor.
func pushBlob(t *testing.T, client *http.Client, repository, mediaType, blob string) string {
	t.Helper()
	upload, err := push(t, client, http.MethodPost, repository+"/blobs/uploads/", "", "").Location()
	testenv.Must(t, err)
	query := upload.Query()
	query.Set("digest", sha(blob))
	upload.RawQuery = query.Encode()
	push(t, client, http.MethodPut, upload.String(), "application/octet-stream", blob)
	return fmt.Sprintf(`{"mediaType": %q, "digest": %q, "size": %d}`, mediaType, sha(blob), len(blob))
}

// TestOCIMirrorDockerRegistry lists and downloads a provider from an independent registry
// implementation.
func TestOCIMirrorDockerRegistry(t *testing.T) {
	t.Parallel()
	registry := testenv.StartRegistry(t, "")
	client := registry.Client()
	m := &getproviders.OCIMirror{Fetcher: &getmodules.Fetcher{HTTPClient: client}}
	var err error
	if m.Repository, err = getproviders.ParseRepositoryTemplate(registry.Host() + "/mirror/${namespace}/${type}"); err != nil {
		t.Fatal(err)
	}
	repository := "https://" + registry.Host() + "/v2/mirror/acme/x"
	config := pushBlob(t, client, repository, "application/vnd.oci.empty.v1+json", "{}")
	layer := pushBlob(t, client, repository, "archive/zip", archive)
	manifest := fmt.Sprintf(`{"schemaVersion": 2, "mediaType": %q, "artifactType": "application/vnd.opentofu.provider-target", "config": %s, "layers": [%s]}`,
		ociManifestType, config, layer)
	push(t, client, http.MethodPut, repository+"/manifests/"+sha(manifest), ociManifestType, manifest)
	index := fmt.Sprintf(`{
		"schemaVersion": 2, "mediaType": %q, "artifactType": "application/vnd.opentofu.provider",
		"manifests": [{
			"mediaType": %q, "artifactType": "application/vnd.opentofu.provider-target",
			"digest": %q, "size": %d, "platform": {"os": "linux", "architecture": "amd64"}
		}]
	}`, ociIndexType, ociManifestType, sha(manifest), len(manifest))
	push(t, client, http.MethodPut, repository+"/manifests/1.2.0", ociIndexType, index)
	x := provider(t, "acme/x")
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
