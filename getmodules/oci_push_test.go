package getmodules_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const pushedManifest = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",` +
	`"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[]}`

// pushAll pushes a blob and a manifest to a repository and reads them back.
func pushAll(t *testing.T, f *getmodules.Fetcher, host string) error {
	t.Helper()
	repo, err := f.OCIWriter(host, "acme/mirror")
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	server := testenv.StartRegistry(t, "")
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
