package getmodules_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/versions/ocitags"
)

// startRegistry runs Debian's docker-registry behind a server that has TLS.
func startRegistry(t *testing.T) *httptest.Server {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		t.Skip("docker-registry is not installed")
	}
	dir := t.TempDir()
	socket, config := filepath.Join(dir, "sock"), filepath.Join(dir, "config.yml")
	writeFile(t, config, fmt.Sprintf("version: 0.1\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {net: unix, addr: %q, relativeurls: true}\n",
		filepath.Join(dir, "data"), socket))
	cmd := exec.CommandContext(t.Context(), program, "serve", config)
	output, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone by itself
		_ = cmd.Wait()
	})
	awaitLine(t, output, "listening on")
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	server := httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", r.In.Host },
		Transport: &http.Transport{DialContext: dial},
	})
	t.Cleanup(server.Close)
	return server
}

// awaitLine reads a program's output up to the line that says what is waited
// for, and throws away all that comes after it.
func awaitLine(t *testing.T, output io.Reader, want string) {
	t.Helper()
	var all strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if strings.Contains(lines.Text(), want) {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return
		}
	}
	t.Fatalf("the program ended without %q:\n%s", want, all.String())
}

// pushModule pushes a module package as "oras push" does, and tags it.
func pushModule(t *testing.T, server *httptest.Server, repository string, archive []byte, tags ...string) digest.Digest {
	t.Helper()
	repo := &remote.Repository{
		Client:    server.Client(),
		Reference: registry.Reference{Registry: strings.TrimPrefix(server.URL, "https://"), Repository: repository},
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

// TestOCIDockerRegistry fetches from a registry that others made.
func TestOCIDockerRegistry(t *testing.T) {
	t.Parallel()
	server := startRegistry(t)
	tags := []string{"latest", "v1.2.0", "1.3.0_build.1"}
	for i := range 120 { // more than the page that it would like to give
		tags = append(tags, fmt.Sprintf("0.0.%d", i))
	}
	id := pushModule(t, server, "acme/net", sampleZip(), tags...)
	f := newHTTPFetcher()
	f.HTTPClient = server.Client()
	address := strings.Replace(server.URL, "https://", "oci://", 1) + "/acme/net"
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
	repo, err := f.OCIRepository(getmodules.Request{Package: pkgOf(address)})
	if err != nil {
		t.Fatal(err)
	}
	found, err := ocitags.List(t.Context(), repo)
	if err != nil || len(found) != 122 {
		t.Errorf("List = %d versions, %v, want 122", len(found), err)
	}
	if got, err := repo.Digest(t.Context(), "v1.2.0"); got != id.String() || err != nil {
		t.Errorf("Digest = %q, %v, want %q", got, err, id)
	}
}
