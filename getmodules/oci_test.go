package getmodules_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const ociTree = `
-- oci/net/1.0.0/main.tf --
# old
-- oci/net/latest/main.tf --
# new
-- oci/net/latest/sub/a.tf --
# sub
-- oci/acme%2Fnet/1.0.0/main.tf --
# acme
`

func newOCIFetcher(world *modtest.World) *getmodules.Fetcher {
	f := newHTTPFetcher()
	f.HTTPClient = world.HTTPClient()
	return f
}

func ociDigest(t testing.TB, world *modtest.World, repo, tag string) string {
	t.Helper()
	digest, err := world.OCIDigest(repo, tag)
	testenv.Must(t, err)
	return digest
}

// asked returns the requests that the world received, with digests cut off.
func asked(world *modtest.World) []string {
	var lines []string
	for _, r := range world.Requests() {
		line, _, _ := strings.Cut(r.String(), "sha256:")
		lines = append(lines, line)
	}
	return lines
}

// TestOCIFetch also counts requests: one for the manifest, which resolves the tag, and one
// for the layer, whose digest is the ArchiveSum.
func TestOCIFetch(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(ociTree))
	latest, old := ociDigest(t, world, "net", "latest"), ociDigest(t, world, "net", "1.0.0")
	newTree := map[string]string{"main.tf": "# new\n", "sub": "dir", "sub/a.tf": "# sub\n"}
	tests := []struct {
		repo, rest, revision string
		digest               string
		tree                 map[string]string
		asked                string
	}{
		{"net", "", "", latest, newTree, "net/manifests/latest"},
		{"net", "?tag=1.0.0", "", old, map[string]string{"main.tf": "# old\n"}, "net/manifests/1.0.0"},
		{"net", "?digest=" + latest, "", latest, newTree, "net/manifests/"},
		{"net", "?tag=1.0.0", latest, latest, newTree, "net/manifests/"},
		{"net", "?tag=none", latest, latest, newTree, "net/manifests/"},
		{"net", "?digest=" + latest, latest, latest, newTree, "net/manifests/"},
		{"acme/net", "?tag=1.0.0", "", ociDigest(t, world, "acme/net", "1.0.0"), map[string]string{"main.tf": "# acme\n"}, "acme/net/manifests/1.0.0"},
	}
	for _, test := range tests {
		world.ResetRequests()
		address := world.OCISource(test.repo, test.rest)
		var done, total int64
		got, pkg, err := fetchURL(t, newOCIFetcher(world), address, func(r *getmodules.Request) {
			r.Revision, r.Progress = test.revision, func(d, n int64) { done, total = d, n }
		})
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if diff := cmp.Diff(test.tree, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
		if resolved := world.OCISource(test.repo, "?digest="+test.digest); pkg.Revision != test.digest || pkg.Resolved.String() != resolved {
			t.Errorf("%s: resolved to %s, %s, want %s", address, pkg.Revision, pkg.Resolved, resolved)
		}
		want := []string{"GET /v2/" + test.asked, "GET /v2/" + test.repo + "/blobs/"}
		if diff := cmp.Diff(want, asked(world)); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", address, diff)
			continue
		}
		_, layer, _ := strings.Cut(world.Requests()[1].Path, "sha256:")
		if pkg.ArchiveSum != "zh:"+layer || done == 0 || done != total || pkg.Bytes <= total {
			t.Errorf("%s: %+v, and the progress ended at %d of %d; want the sum %s, and the manifest not in the progress", address, pkg, done, total, layer)
		}
	}
}

func TestOCIRevisionRefused(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(ociTree))
	latest := ociDigest(t, world, "net", "latest")
	for rest, revision := range map[string]string{
		"":                      "7c1f791efd61f326ed6102d564d1a65d1eceedf0",
		"?digest=" + latest:     someDigest,
		"?digest=" + someDigest: latest,
	} {
		_, _, err := fetchURL(t, newOCIFetcher(world), world.OCISource("net", rest), func(r *getmodules.Request) { r.Revision = revision })
		if err == nil || len(world.Requests()) > 0 {
			t.Errorf("%q pinned to %s: error is %v, requests %v, want an error and none", rest, revision, err, world.Requests())
		}
	}
}

func TestOCINotFound(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(ociTree))
	for _, address := range []string{
		world.OCISource("none", ""), world.OCISource("net", "?tag=none"), world.OCISource("net", "?digest="+someDigest), world.OCISource("acme/net", ""),
	} {
		_, _, err := fetchURL(t, newOCIFetcher(world), address)
		var status *getmodules.StatusError
		if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &status) {
			t.Errorf("%s: error is %v, want fs.ErrNotExist", address, err)
		}
	}
}

func TestOCIShapes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		shape modtest.OCIShape
		want  error
		says  string
	}{
		{modtest.OCIModule, nil, ""},
		{modtest.OCIForeignLayers, nil, ""},
		{modtest.OCIWrongArtifactType, getmodules.ErrOCIArtifact, "opentofu.provider"},
		{modtest.OCINoArtifactType, getmodules.ErrOCIArtifact, "no artifact type"},
		{modtest.OCITwoZipLayers, getmodules.ErrOCIArtifact, "2 layers"},
		{modtest.OCINoZipLayer, getmodules.ErrOCIArtifact, "application/zip"},
		{modtest.OCINoLayers, getmodules.ErrOCIArtifact, "no layers"},
		{modtest.OCIIndex, getmodules.ErrOCIArtifact, "index"},
		{modtest.OCIDockerManifest, getmodules.ErrOCIArtifact, "Docker"},
		{modtest.OCIWrongMediaType, getmodules.ErrOCIArtifact, "something else"},
		{modtest.OCIDigestMismatch, getmodules.ErrOCIContent, "digest"},
		{modtest.OCILongSize, getmodules.ErrOCIContent, ""},
		{modtest.OCIShortSize, getmodules.ErrOCIContent, ""},
		{modtest.OCIHugeSize, getmodules.ErrTooLarge, ""},
		{modtest.OCINegativeSize, getmodules.ErrOCIArtifact, "size"},
		{modtest.OCIBadDigest, getmodules.ErrOCIArtifact, "digest"},
	}
	world := modtest.New(t, modtest.Txtar(""))
	for _, test := range tests {
		repo := fmt.Sprintf("shape-%d", test.shape)
		testenv.Must(t, world.PushOCI(repo, "latest", test.shape, modtest.Txtar("-- main.tf --\nx\n")))
		got, _, err := fetchURL(t, newOCIFetcher(world), world.OCISource(repo, ""))
		if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("shape %d: error is %v, want %v with %q", test.shape, err, test.want, test.says)
		}
		if diff := cmp.Diff(map[string]string{"main.tf": "x\n"}, got); err == nil && diff != "" {
			t.Errorf("shape %d (-want +got):\n%s", test.shape, diff)
		}
	}
}

// TestOCIRetag moves a tag between the requests for the manifest and the layer, and
// between two fetches.
func TestOCIRetag(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(ociTree))
	before := ociDigest(t, world, "net", "1.0.0")
	f := newOCIFetcher(world)
	f.Backoff = func(int) time.Duration { // called because the first request for the layer fails
		world.SetFaults()
		if err := world.PushOCI("net", "1.0.0", modtest.OCIModule, modtest.Txtar("-- main.tf --\n# moved\n")); err != nil {
			t.Error(err)
		}
		return 0
	}
	world.SetFaults(modtest.Fault{Path: "/v2/net/blobs/", Status: 503})
	got, pkg, err := fetchURL(t, f, world.OCISource("net", "?tag=1.0.0"))
	if err != nil || pkg.Revision != before || got["main.tf"] != "# old\n" {
		t.Fatalf("during the move: %v, %+v, %v", got, pkg, err)
	}
	got, pkg, err = fetchURL(t, f, world.OCISource("net", "?tag=1.0.0"))
	if err != nil || pkg.Revision == before || got["main.tf"] != "# moved\n" {
		t.Errorf("after the move: %v, %+v, %v", got, pkg, err)
	}
	got, _, err = fetchURL(t, f, world.OCISource("net", "?tag=1.0.0"), func(r *getmodules.Request) { r.Revision = before })
	if err != nil || got["main.tf"] != "# old\n" {
		t.Errorf("pinned: %v, %v", got, err)
	}
}

var someDigest = "sha256:" + strings.Repeat("0123456789abcdef", 4)

func TestOCIAddress(t *testing.T) {
	t.Parallel()
	long := "sha512:" + strings.Repeat("0123456789abcdef", 8)
	tests := []struct{ address, host, repository, reference string }{
		{"oci://r.example.com/net", "r.example.com", "net", "latest"},
		{"oci://r.example.com/net?", "r.example.com", "net", "latest"},
		{"oci::oci://r.example.com/net", "r.example.com", "net", "latest"},
		{"oci://R.Example.com:5000/a/b-c/d__e.f?tag=v1.0_x", "r.example.com:5000", "a/b-c/d__e.f", "v1.0_x"},
		{"oci://[::1]:5000/net?digest=" + someDigest, "[::1]:5000", "net", someDigest},
		{"oci://localhost/net?digest=" + strings.ReplaceAll(long, ":", "%3A"), "localhost", "net", long},
	}
	for _, test := range tests {
		host, repository, reference, err := getmodules.OCIReference(test.address)
		if err != nil || host != test.host || repository != test.repository || reference != test.reference {
			t.Errorf("OCIReference(%q) = %q, %q, %q, %v, want %q, %q, %q", test.address, host, repository, reference, err,
				test.host, test.repository, test.reference)
		}
	}
}

func TestOCIAddressRefused(t *testing.T) {
	t.Parallel()
	tests := []struct{ address, says string }{
		{"oci::https://r.example.com/net", "second scheme"},
		{"oci::r.example.com/net", "second scheme"},
		{"oci://", "no host"},
		{"oci:r.example.com/net", "no host"},
		{"oci:///net", "no host"},
		{"oci://u:hunter2@r.example.com/net", "credentials"},
		{"oci://r.example.com", "no repository"},
		{"oci://r.example.com/", "no repository"},
		{"oci://r.example.com/net#hunter2", "#"},
		{"oci://r.example.com/net:1.0", "?tag="},
		{"oci://r.example.com/net@" + someDigest, "?digest="},
		{"oci://r.example.com/Acme/Net", "lower case"},
		{"oci://r.example.com/net/", "name of a repository"},
		{"oci://r.example.com/a//b", "name of a repository"},
		{"oci://r.example.com/a%2Fb", "name of a repository"},
		{"oci://r.example.com/a%20b", "name of a repository"},
		{"oci://r.example.com/-a", "name of a repository"},

		{"oci://r.example.com/net?tag=a&digest=" + someDigest, "exclude"},
		{"oci://r.example.com/net?tag=a&tag=a", "2 times"},
		{"oci://r.example.com/net?digest=" + someDigest + "&digest=" + someDigest, "2 times"},
		{"oci://r.example.com/net?tag=", "tag is empty"},
		{"oci://r.example.com/net?tag", "tag is empty"},
		{"oci://r.example.com/net?digest=", "digest is empty"},
		{"oci://r.example.com/net?ref=v1", `"ref"`},
		{"oci://r.example.com/net?Tag=v1", `"Tag"`},
		{"oci://r.example.com/net?=v1", `""`},
		{"oci://r.example.com/net?archive=zip", "archive"},
		{"oci://r.example.com/net?checksum=sha256:00", "checksum"},
		{"oci://r.example.com/net?tag=%zz", "malformed"},
		{"oci://r.example.com/net?tag=a;b", "malformed"},
		{"oci://r.example.com/net?tag=a/b", "name of a tag"},
		{"oci://r.example.com/net?tag=.a", "name of a tag"},
		{"oci://r.example.com/net?tag=" + strings.Repeat("a", 129), "name of a tag"},
		{"oci://r.example.com/net?tag=" + someDigest, "name of a tag"},
		{"oci://r.example.com/net?digest=latest", "not a digest"},
		{"oci://r.example.com/net?digest=" + strings.ToUpper(someDigest), "not a digest"},
		{"oci://r.example.com/net?digest=sha256:" + strings.ToUpper(someDigest[7:]), "not a digest"},
		{"oci://r.example.com/net?digest=" + someDigest[:70], "not a digest"},
		{"oci://r.example.com/net?digest=md5:d41d8cd98f00b204e9800998ecf8427e", "not a digest"},
	}
	for _, test := range tests {
		_, _, err := fetchURL(t, &getmodules.Fetcher{}, test.address)
		if !errors.Is(err, getmodules.ErrOCIAddress) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q: error is %v, want ErrOCIAddress with %q", test.address, err, test.says)
		}
		_, err = new(getmodules.Fetcher).OCIRepository(t.Context(), getmodules.Request{Package: pkgOf(test.address)})
		if !errors.Is(err, getmodules.ErrOCIAddress) {
			t.Errorf("OCIRepository(%q): error is %v, want ErrOCIAddress", test.address, err)
		}
	}
}

func FuzzOCIAddress(f *testing.F) {
	f.Add("oci://r.example.com/net?tag=1.0.0")
	f.Add("oci://r.example.com:5000/a/b?digest=" + someDigest)
	f.Add("oci::oci://[::1]/a?tag=x&")
	f.Fuzz(func(t *testing.T, address string) {
		host, repository, reference, err := getmodules.OCIReference(address)
		if err != nil {
			return
		}
		unsafe := strings.ContainsAny(host+reference, "/?#@ \n") || strings.ContainsAny(repository, "?#@:% \n") ||
			strings.Contains(repository, "//") || strings.Contains(repository, "..")
		if unsafe || host == "" || reference == "" {
			t.Errorf("OCIReference(%q) = %q, %q, %q", address, host, repository, reference)
		}
	})
}

const imageManifest = "application/vnd.oci.image.manifest.v1+json"

var someManifest = `{"schemaVersion":2,"mediaType":"` + imageManifest + `","artifactType":"application/vnd.opentofu.modulepkg",` +
	`"config":{},"layers":[{"mediaType":"archive/zip","digest":"` + someDigest + `","size":10}]}`

func FuzzOCIManifest(f *testing.F) {
	f.Add([]byte(someManifest))
	f.Add([]byte(`{"layers":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		digest, err := getmodules.CheckOCIManifest(imageManifest, text, 1<<20)
		if err == nil && len(digest) < len(someDigest) {
			t.Errorf("%q: digest = %q", text, digest)
		}
		if err != nil && !errors.Is(err, getmodules.ErrOCIArtifact) && !errors.Is(err, getmodules.ErrTooLarge) {
			t.Errorf("%q: error is %v", text, err)
		}
	})
}

func TestSameSite(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want bool
	}{
		{"r.example.com", "r.example.com", true},
		{"registry-1.docker.io", "auth.docker.io", true},
		{"registry.gitlab.com", "GitLab.com", true},
		{"localhost", "localhost", true},
		{"127.0.0.1", "127.0.0.1", true},
		{"127.0.0.1", "126.0.0.1", false},
		{"::1", "::2", false},
		{"r.example.com", "r.example.org", false},
		{"example.com", "example.com.evil.org", false},
		{"com", "example.com", false},
		{"a.co.uk", "b.co.uk", false},
		{"a.github.io", "b.github.io", false},
		{"example.com.", "example.com", false},
		{"", "example.com", false},
	}
	for _, test := range tests {
		if got := getmodules.SameSite(test.a, test.b); got != test.want {
			t.Errorf("SameSite(%q, %q) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
