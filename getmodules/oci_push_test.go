package getmodules_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/net/oci/registrytest"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/versions"
)

const pushedManifest = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",` +
	`"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[]}`

// pushAll pushes a blob and a manifest to a repository and reads them back.
func pushAll(t *testing.T, f *getmodules.Fetcher, host string) error {
	t.Helper()
	repo, err := f.OCIWriter(host, "acme/mirror")
	testenv.Must(t, err)
	content := []byte("{}")
	blob := ocispec.Descriptor{MediaType: "application/octet-stream", Digest: digest.FromBytes(content), Size: int64(len(content))}
	for i, want := range []bool{true, false} {
		pushed, err := repo.PushBlob(t.Context(), blob, bytes.NewReader(content), false)
		if err != nil {
			return err
		}
		if pushed != want {
			t.Errorf("PushBlob, time %d: %t, want %t", i+1, pushed, want)
		}
	}
	if err := repo.PushManifest(t.Context(), "one", ocispec.MediaTypeImageManifest, []byte(pushedManifest)); err != nil {
		return err
	}
	from, err := f.OpenOCI(t.Context(), host, "acme/mirror")
	testenv.Must(t, err)
	found, err := from.Resolve(t.Context(), "one")
	if err != nil || string(found.Data) != pushedManifest || found.MediaType != ocispec.MediaTypeImageManifest {
		t.Errorf("Resolve = %+v, %v", found, err)
	}
	body, err := from.Fetch(t.Context(), blob)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(body)
	if string(got) != string(content) {
		t.Errorf("the blob is %q, %v", got, err)
	}
	return errors.Join(err, body.Close())
}

func TestOCIPush(t *testing.T) {
	t.Parallel()
	user := getmodules.OCICredential{Username: "user", Password: "hunter2"}
	basic, bearer := modtest.Options{OCIUser: "user", OCIPassword: "hunter2"}, modtest.Options{OCIBearer: true, OCIUser: "user", OCIPassword: "hunter2"}
	for _, test := range []struct {
		name       string
		opts       modtest.Options
		credential getmodules.OCICredential
		want       error
	}{
		{"open", modtest.Options{}, user, nil},
		{"unsteady", modtest.Options{Faults: []modtest.Fault{
			{Path: "/v2/acme/mirror/blobs/sha256", Status: 503, Times: 1}, {Path: "/v2/acme/mirror/manifests", Status: 503, Times: 1},
		}}, user, nil},
		{"basic", basic, user, nil},
		{"basic, none", basic, getmodules.OCICredential{}, getmodules.ErrAuthentication},
		{"token", bearer, user, nil},
		{"token, refresh", bearer, getmodules.OCICredential{RefreshToken: "hunter2"}, nil},
		{"token, wrong", bearer, getmodules.OCICredential{Username: "user", Password: "x"}, getmodules.ErrAuthentication},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			world := modtest.NewWith(t, modtest.Txtar(ociTree), test.opts)
			f := newOCIFetcher(world)
			f.OCICredentials = func(context.Context, string, string) (getmodules.OCICredential, error) { return test.credential, nil }
			if err := pushAll(t, f, string(world.Host())); !errors.Is(err, test.want) {
				t.Errorf("error is %v, want %v", err, test.want)
			}
			if strings.Contains(strings.Join(asked(world), "\n"), "hunter2") {
				t.Errorf("a password is in a URL: %q", asked(world))
			}
		})
	}
}

// TestOCIPushDockerRegistry pushes to Debian's docker-registry, an independent
// implementation.
func TestOCIPushDockerRegistry(t *testing.T) {
	t.Parallel()
	server := registrytest.Start(t, "")
	f := newHTTPFetcher()
	f.HTTPClient = server.Client()
	if err := pushAll(t, f, server.Host()); err != nil {
		t.Error(err)
	}
}

// TestOCIPushLocationRefused checks that a registry cannot redirect an upload, and the
// credentials sent with it, to another place.
func TestOCIPushLocationRefused(t *testing.T) {
	t.Parallel()
	for _, location := range []string{
		"https://elsewhere.example.com/v2/acme/mirror/blobs/uploads/1",
		"http://HOST/v2/acme/mirror/blobs/uploads/1",
		"/v2/acme/other/blobs/uploads/1",
		"/elsewhere",
		"",
	} {
		var server *httptest.Server
		puts := 0
		server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.Method {
			case http.MethodHead:
				w.WriteHeader(http.StatusNotFound)
			case http.MethodPost:
				w.Header().Set("Location", strings.Replace(location, "HOST", r.Host, 1))
				w.WriteHeader(http.StatusAccepted)
			default:
				puts++
				w.WriteHeader(http.StatusCreated)
			}
		}))
		f := newHTTPFetcher()
		f.HTTPClient = server.Client()
		if err := pushAll(t, f, strings.TrimPrefix(server.URL, "https://")); err == nil || puts > 0 {
			t.Errorf("location %q: error is %v after %d uploads, want one and none", location, err, puts)
		}
		server.Close()
	}
}

// TestOCIPushRefused checks that the error for a refused push reflects the status of the
// answer and shows no control characters from it.
func TestOCIPushRefused(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(ociTree), modtest.Options{Faults: []modtest.Fault{
		{Path: "/v2/acme/mirror/blobs/uploads/", Status: http.StatusForbidden, Body: `{"errors":[{"code":"DENIED","message":"\u001b[2J"}]}`},
	}})
	err := pushAll(t, newOCIFetcher(world), string(world.Host()))
	if !errors.Is(err, getmodules.ErrAuthentication) || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("error is %v, want ErrAuthentication", err)
	}
}

// pushModule pushes a module package in the same way as "oras push", and tags it.
func pushModule(t *testing.T, server *registrytest.Registry, repository string, archive []byte, tags ...string) digest.Digest {
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
	testenv.Must(t, err)
	for desc, data := range map[*ocispec.Descriptor][]byte{&layer: archive, &manifest.Config: []byte("{}")} {
		testenv.Must(t, repo.Push(t.Context(), *desc, bytes.NewReader(data)))
	}
	desc := ocispec.Descriptor{MediaType: manifest.MediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	for _, tag := range tags {
		testenv.Must(t, repo.PushReference(t.Context(), desc, bytes.NewReader(text), tag))
	}
	return desc.Digest
}

// TestOCIDockerRegistry fetches from Debian's docker-registry, an independent
// implementation.
func TestOCIDockerRegistry(t *testing.T) {
	t.Parallel()
	server := registrytest.Start(t, "")
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
		testenv.Must(t, err)
		if diff := cmp.Diff(sampleTree, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", rest, diff)
		}
		if pkg.Revision != id.String() || pkg.ArchiveSum != "zh:"+digest.FromBytes(sampleZip()).Encoded() {
			t.Errorf("%q: %+v, want the revision %s", rest, pkg, id)
		}
	}
	repo, err := f.OCIRepository(t.Context(), getmodules.Request{Package: pkgOf(address)})
	testenv.Must(t, err)
	found, err := versions.FromOCITags(t.Context(), repo)
	if err != nil || len(found) != 122 {
		t.Errorf("List = %d versions, %v, want 122", len(found), err)
	}
	if got, err := repo.Resolve(t.Context(), "v1.2.0"); got.Digest != id || err != nil {
		t.Errorf("Resolve = %v, %v, want %q", got, err, id)
	}
}
