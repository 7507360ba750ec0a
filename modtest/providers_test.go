package modtest_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/registryclient"
	versionspkg "github.com/cotterpin/cotter/versions"
)

const twoProviders = `
-- providers/acme/cloud/1.0.0/linux_amd64/terraform-provider-cloud_v1.0.0 --
linux MODTEST_HOST
-- providers/acme/cloud/1.0.0/linux_amd64/docs/README.md --
read me
-- providers/acme/cloud/1.0.0/darwin_arm64/terraform-provider-cloud_v1.0.0 --
darwin
-- providers/acme/cloud/1.10.0/linux_amd64/terraform-provider-cloud_v1.10.0 --
newer
-- providers/acme/disk/0.1.0-rc.1/linux_amd64/terraform-provider-disk --
disk
`

var linux = addrs.Platform{OS: "linux", Arch: "amd64"}

func client(world *modtest.World) *registryclient.Client {
	return &registryclient.Client{Services: &disco.Client{HTTPClient: world.HTTPClient()}, HTTPClient: world.HTTPClient(), Attempts: 1}
}

func provider(world *modtest.World, name string) addrs.Provider {
	namespace, kind, _ := strings.Cut(name, "/")
	return addrs.Provider{Hostname: world.Host(), Namespace: namespace, Type: kind}
}

func TestProviders(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(twoProviders), modtest.Options{ProviderWarnings: []string{"old"}, ProviderReported: true})
	cloud := provider(world, "acme/cloud")
	listing, err := client(world).ProviderVersions(t.Context(), cloud)
	testenv.Must(t, err)
	mac := addrs.Platform{OS: "darwin", Arch: "arm64"}
	want := registryclient.ProviderListing{Warnings: []string{"old"}, Versions: []registryclient.ProviderVersion{
		{Version: versionspkg.MustParse("1.0.0"), Protocols: []string{"5.0"}, Platforms: []addrs.Platform{mac, linux}},
		{Version: versionspkg.MustParse("1.10.0"), Protocols: []string{"5.0"}, Platforms: []addrs.Platform{linux}},
	}}
	if diff := cmp.Diff(want, listing, cmp.Comparer(func(a, b versionspkg.Version) bool { return a == b })); diff != "" {
		t.Errorf("listing (-want +got):\n%s", diff)
	}
	found, err := client(world).ProviderPackage(t.Context(), cloud, versionspkg.MustParse("1.0.0"), linux)
	if err != nil || len(found.Packages) != 2 {
		t.Fatalf("packages = %v, %v, want those of two platforms", found.Packages, err)
	}
	h1, zh, err := world.ProviderHashes("acme/cloud", "1.0.0", "linux_amd64")
	reported := registryclient.ReportedPackage{Size: int64(len(get(t, world, found.URL).body)), Hashes: []string{string(h1), string(zh)}}
	if diff := cmp.Diff(reported, found.Packages[linux]); diff != "" || err != nil {
		t.Errorf("reported: %v (-want +got):\n%s", err, diff)
	}
	if got, want := world.ProviderSource("acme/cloud"), string(world.Host())+"/acme/cloud"; got != want {
		t.Errorf("ProviderSource = %q, want %q", got, want)
	}
}

func direct(world *modtest.World) getproviders.Source {
	return &getproviders.Direct{Registry: client(world), HTTPClient: world.HTTPClient(), Attempts: 1}
}

// TestProviderSources gets a provider from the registry and from each kind of mirror. Package getproviders has the
// shapes of answers.
func TestProviderSources(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(twoProviders))
	testenv.Must(t, world.PublishProvider("acme/cloud", "2.0.0+b", "linux_amd64", modtest.Txtar("-- terraform-provider-cloud --\n")))
	want := []string{"1.0.0", "1.10.0", "2.0.0+b"}
	for _, version := range want {
		testenv.Must(t, world.PushOCIProvider("mirror/acme/cloud", "acme/cloud", version))
	}
	files := t.TempDir()
	testenv.Must(t, world.WriteProviderMirror(files, modtest.ProviderMirror{Host: "registry.example.com"}))
	network, err := url.Parse(world.ProviderMirrorURL())
	testenv.Must(t, err)
	repository, err := getproviders.ParseRepositoryTemplate(string(world.Host()) + "/mirror/${namespace}/${type}")
	testenv.Must(t, err)
	own, other := provider(world, "acme/cloud"), addrs.Provider{Hostname: "registry.example.com", Namespace: "acme", Type: "cloud"}
	_, zh, err := world.ProviderHashes("acme/cloud", "1.0.0", "linux_amd64")
	testenv.Must(t, err)
	for name, test := range map[string]struct {
		source   getproviders.Source
		provider addrs.Provider
	}{
		"the registry":        {direct(world), own},
		"a filesystem mirror": {getproviders.FilesystemMirror{Dir: files}, other},
		"a network mirror":    {&getproviders.NetworkMirror{URL: network, HTTPClient: world.HTTPClient()}, other},
		"an OCI mirror":       {&getproviders.OCIMirror{Repository: repository, Fetcher: &getmodules.Fetcher{HTTPClient: world.HTTPClient()}}, own},
	} {
		listing, err := test.source.Versions(t.Context(), test.provider)
		testenv.Must(t, err)
		var got []string
		for _, version := range listing.Numbers() {
			got = append(got, version.String())
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: versions (-want +got):\n%s", name, diff)
		}
		if got := hashFrom(t, test.source, test.provider); got != zh {
			t.Errorf("%s: the package has %s, want %s", name, got, zh)
		}
	}
	for _, path := range []string{"cloud/3.0.0.json", "cloud/x.zip", "none/index.json"} {
		if r := get(t, world, world.ProviderMirrorURL()+"registry.example.com/acme/"+path); r.status != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, r.status)
		}
	}
}

// hashFrom verifies version 1.0.0 of a provider for Linux, and returns the zh of its archive.
func hashFrom(t *testing.T, source getproviders.Source, provider addrs.Provider) hashing.Hash {
	t.Helper()
	pkg, err := source.Package(t.Context(), provider, versionspkg.MustParse("1.0.0"), linux)
	testenv.Must(t, err)
	_, err = pkg.Authenticate(t.Context())
	testenv.Must(t, err)
	file, err := os.Create(filepath.Join(t.TempDir(), "archive"))
	testenv.Must(t, err)
	defer file.Close()
	testenv.Must(t, pkg.Download(t.Context(), file, nil))
	text, err := os.ReadFile(file.Name())
	testenv.Must(t, err)
	return hashing.Hash(fmt.Sprintf("zh:%x", sha256.Sum256(text)))
}

// The transfer of a truncated archive can be resumed.
func TestProviderArchiveResumes(t *testing.T) {
	t.Parallel()
	const at = "/providers/acme/cloud/1.0.0/terraform-provider-cloud_1.0.0_linux_amd64.zip"
	world := modtest.NewWith(t, modtest.Txtar(twoProviders), modtest.Options{Faults: []modtest.Fault{{Path: at, Times: 1, Truncate: true}}})
	cut, err := tryGet(t, world, at)
	if err == nil || cut.status != http.StatusOK || len(cut.body) == 0 {
		t.Fatalf("a cut archive: %+v, %v", cut, err)
	}
	etag := cut.header.Get("ETag")
	rest := get(t, world, at, "Range", fmt.Sprintf("bytes=%d-", len(cut.body)), "If-Range", etag)
	if rest.status != http.StatusPartialContent || etag == "" {
		t.Fatalf("the rest: status %d, ETag %q", rest.status, etag)
	}
	if whole := get(t, world, at); whole.body != cut.body+rest.body {
		t.Error("the parts are not the archive")
	}
}

func TestPublishProvider(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(twoProviders))
	_, before, _ := world.ProviderHashes("acme/cloud", "1.0.0", "linux_amd64")
	files := modtest.Txtar("-- terraform-provider-cloud --\nother\n")
	for _, platform := range []string{"linux_amd64", "windows_386"} {
		testenv.Must(t, world.PublishProvider("acme/cloud", "1.0.0", platform, files))
	}
	after := hashFrom(t, direct(world), provider(world, "acme/cloud"))
	if _, want, err := world.ProviderHashes("acme/cloud", "1.0.0", "linux_amd64"); after == before || after != want || err != nil {
		t.Errorf("the archive had %s and has %s, want %s, %v", before, after, want, err)
	}
	if err := world.WithdrawProvider("acme/cloud", "1.0.0"); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"withdrawn":    world.WithdrawProvider("acme/cloud", "1.0.0"),
		"no version":   world.SetProviderShape("acme/cloud", "3.0.0", modtest.ProviderSigned),
		"bad version":  world.PublishProvider("acme/cloud", "v1", "linux_amd64", files),
		"bad name":     world.PublishProvider("acme", "1.0.0", "linux_amd64", files),
		"bad platform": world.PublishProvider("acme/cloud", "1.0.0", "linux", files),
		"no OCI":       world.PushOCIProvider("x", "acme/cloud", "3.0.0"),
	} {
		if _, ok := errors.AsType[*modtest.PublishError](err); !ok {
			t.Errorf("%s: %v, want *PublishError", name, err)
		}
	}
	for tree, at := range map[string]string{
		"-- providers/acme/cloud/v1/linux_amd64/x --\n":  "providers/acme/cloud/v1/linux_amd64",
		"-- providers/acme/cloud/1.0.0/linux/x --\n":     "providers/acme/cloud/1.0.0/linux",
		"-- providers/acme/cloud/1.0.0/linux_amd64 --\n": "providers/acme/cloud/1.0.0/linux_amd64",
	} {
		_, err := modtest.Start(modtest.Txtar(tree), modtest.Options{})
		if e, ok := errors.AsType[*modtest.TreeError](err); !ok || e.Path != at {
			t.Errorf("%q: Start = %v, want *TreeError at %q", tree, err, at)
		}
	}
}
