package modtest_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const ociTree = `
-- oci/net/1.0.0/main.tf --
# old
-- oci/net/1.1.0/main.tf --
# new
-- oci/net/latest/main.tf --
# new
-- oci/acme%2Fnet/1.0.0/main.tf --
# MODTEST_HOST
`

type ociManifest struct {
	ArtifactType string
	Layers       []struct{ MediaType, Digest string }
}

func manifest(t *testing.T, world *modtest.World, repo, reference string) (reply, ociManifest) {
	t.Helper()
	r := get(t, world, "/v2/"+repo+"/manifests/"+reference)
	var m ociManifest
	if err := json.Unmarshal([]byte(r.body), &m); err != nil {
		t.Fatalf("manifest of %s of %s: %d %q: %v", reference, repo, r.status, r.body, err)
	}
	return r, m
}

func TestOCI(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(ociTree))
	for _, test := range []struct{ repo, tag, text string }{
		{"net", "1.0.0", "# old\n"},
		{"net", "latest", "# new\n"},
		{"acme/net", "1.0.0", "# " + string(world.Host()) + "\n"},
	} {
		r, m := manifest(t, world, test.repo, test.tag)
		if got, want := r.header.Get("Content-Type"), "application/vnd.oci.image.manifest.v1+json"; got != want {
			t.Errorf("type of the manifest = %q, want %q", got, want)
		}
		digest, err := world.OCIDigest(test.repo, test.tag)
		if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(r.body))); digest != want || err != nil {
			t.Errorf("OCIDigest = %q, %v, want %q", digest, err, want)
		}
		if len(m.Layers) != 1 || m.Layers[0].MediaType != "archive/zip" || m.ArtifactType != "application/vnd.opentofu.modulepkg" {
			t.Fatalf("manifest = %s", r.body)
		}
		blob := get(t, world, "/v2/"+test.repo+"/blobs/"+m.Layers[0].Digest)
		if diff := cmp.Diff([]string{"-rw-r--r-- main.tf: " + test.text}, unzip(t, blob.body)); diff != "" {
			t.Errorf("%s of %s (-want +got):\n%s", test.tag, test.repo, diff)
		}
	}
	if got, want := world.OCISource("acme/net", "//sub?tag=1"), "oci://"+string(world.Host())+"/acme/net//sub?tag=1"; got != want {
		t.Errorf("OCISource = %q, want %q", got, want)
	}
	digest, err := world.OCIDigest("net", "1.1.0") // whose files do not have the port
	if again, againErr := modtest.New(t, modtest.Txtar(ociTree)).OCIDigest("net", "1.1.0"); digest != again || err != nil || againErr != nil {
		t.Errorf("OCIDigest = %q, %v, in another world %q, %v", digest, err, again, againErr)
	}
	if _, err := world.OCIDigest("net", "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a tag that is not there: %v, want fs.ErrNotExist", err)
	}
	if r := get(t, world, "/v2/none/manifests/latest"); r.status != http.StatusNotFound {
		t.Errorf("a repository that is not there = %d, want 404", r.status)
	}
}

func TestPushOCI(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(ociTree))
	before, err := world.OCIDigest("net", "latest")
	testenv.Must(t, err)
	for _, repo := range []string{"net", "team/new"} {
		testenv.Must(t, world.PushOCI(repo, "latest", modtest.OCIModule, modtest.Txtar("-- a.tf --\n")))
		after, err := world.OCIDigest(repo, "latest")
		if err != nil || after == before {
			t.Errorf("%s: digest = %q, %v, want another one", repo, after, err)
		}
	}
	if _, m := manifest(t, world, "net", before); len(m.Layers) != 1 {
		t.Errorf("what the tag led to is gone: %+v", m)
	}
	var publish *modtest.PublishError
	for _, name := range []string{"Upper/case", "", "a//b"} {
		if err := world.PushOCI(name, "1.0.0", modtest.OCIModule, modtest.Txtar("-- a --\n")); !errors.As(err, &publish) {
			t.Errorf("push to %q: %v, want a PublishError", name, err)
		}
	}
	if err := world.PushOCI("net", "a b", modtest.OCIModule, modtest.Txtar("-- a --\n")); !errors.As(err, &publish) {
		t.Errorf("push of a bad tag: %v, want a PublishError", err)
	}
}

// Package getmodules tests what it gets with passwords, tokens and pages of tags.
func TestOCIBearer(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(ociTree), modtest.Options{OCIBearer: true})
	r := get(t, world, "/v2/net/tags/list")
	want := `Bearer realm="` + world.URL() + `/oci/token",service="modtest",scope="repository:net:pull"`
	if got := r.header.Get("WWW-Authenticate"); r.status != http.StatusUnauthorized || got != want {
		t.Errorf("without a token = %d %q, want %q", r.status, got, want)
	}
	var answer struct{ Token string }
	testenv.Must(t, json.Unmarshal([]byte(get(t, world, "/oci/token?scope=repository:net:pull").body), &answer))
	for path, status := range map[string]int{"/v2/net/tags/list": 200, "/v2/acme/net/tags/list": 401} {
		if r := get(t, world, path, "Authorization", "Bearer "+answer.Token); r.status != status {
			t.Errorf("GET %s with a token for net = %d, want %d", path, r.status, status)
		}
	}
}

func TestOCITreeErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"-- oci/file --\n", "-- oci/net/file --\n", "-- oci/Net/1.0.0/a --\n", "-- oci/net/a%20b/a --\n", "-- oci/a%zz/1.0.0/a --\n", "-- oci/net/a b/a --\n",
	} {
		world, err := modtest.Start(modtest.Txtar(text), modtest.Options{})
		if err == nil {
			world.Close()
		}
		var tree *modtest.TreeError
		if !errors.As(err, &tree) {
			t.Errorf("%q: error is %v, want a TreeError", text, err)
		}
	}
}
