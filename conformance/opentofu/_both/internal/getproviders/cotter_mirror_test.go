package getproviders

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/opentofu/opentofu/internal/addrs"
)

// TestCotterTrustAllHashes checks which hashes of a network mirror a lock gets: those that the package has, and
// with trust_all_hashes also those that the mirror lists for other platforms.
func TestCotterTrustAllHashes(t *testing.T) {
	archive := PackageLocalArchive(filepath.Join(t.TempDir(), "x.zip"))
	if err := os.WriteFile(string(archive), []byte("the archive"), 0o644); err != nil {
		t.Fatal(err)
	}
	own, ownErr := PackageHashLegacyZipSHA(archive)
	other := HashSchemeZip.New(fmt.Sprintf("%064d", 0))
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"archives": {"linux_amd64": {"url": "x.zip", "hashes": [%q]}, "darwin_arm64": {"url": "y.zip", "hashes": [%q]}}}`, own, other)
	}))
	defer server.Close()
	at, urlErr := url.Parse(server.URL)
	if err := errors.Join(ownErr, urlErr); err != nil {
		t.Fatal(err)
	}
	client := retryablehttp.NewClient()
	client.HTTPClient = server.Client()
	for trust, want := range map[bool][]Hash{false: {own}, true: {other, own}} {
		source := newHTTPMirrorSourceWithHTTPClient(at, nil, client, LocationConfig{TrustAllHashes: trust})
		meta, err := source.PackageMeta(t.Context(), addrs.NewDefaultProvider("x"), MustParseVersion("1.0.0"), Platform{OS: "linux", Arch: "amd64"})
		if err != nil {
			t.Fatal(err)
		}
		proof, err := meta.Authentication.AuthenticatePackage(archive)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Sorted(proof.HashesWithDisposition(func(d *HashDisposition) bool { return d.VerifiedLocally || d.ReportedByTrustedMirror }))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("trust_all_hashes = %t (-want +got):\n%s", trust, diff)
		}
	}
}
