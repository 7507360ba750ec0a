package modtest_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/signing"
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
	listing, err := client(world).ProviderVersions(t.Context(), provider(world, "acme/cloud"))
	if err != nil {
		t.Fatal(err)
	}
	mac := addrs.Platform{OS: "darwin", Arch: "arm64"}
	want := registryclient.ProviderListing{Warnings: []string{"old"}, Versions: []registryclient.ProviderVersion{
		{Version: versionspkg.MustParse("1.0.0"), Protocols: []string{"5.0"}, Platforms: []addrs.Platform{mac, linux}},
		{Version: versionspkg.MustParse("1.10.0"), Protocols: []string{"5.0"}, Platforms: []addrs.Platform{linux}},
	}}
	if diff := cmp.Diff(want, listing, cmp.Comparer(func(a, b versionspkg.Version) bool { return a == b })); diff != "" {
		t.Errorf("listing (-want +got):\n%s", diff)
	}
	found := checkProvider(t, world, "acme/cloud", "1.0.0")
	if len(found.Packages) != 2 {
		t.Errorf("packages = %v, want those of two platforms", found.Packages)
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

// checkProvider gets a package for Linux and verifies it like a client.
func checkProvider(t *testing.T, world *modtest.World, name, version string) registryclient.ProviderPackage {
	t.Helper()
	found, err := client(world).ProviderPackage(t.Context(), provider(world, name), versionspkg.MustParse(version), linux)
	if err != nil {
		t.Fatal(err)
	}
	if err := tryProvider(t, world, found); err != nil {
		t.Errorf("%s %s: %v", name, version, err)
	}
	return found
}

var errArchive = errors.New("the archive has another sum")

func tryProvider(t *testing.T, world *modtest.World, found registryclient.ProviderPackage) error {
	t.Helper()
	document := []byte(get(t, world, found.SumsURL).body)
	sums := signing.ParseSums(document)
	var keys []signing.Key
	for _, k := range found.Keys {
		keys = append(keys, signing.Key{ID: k.ID, Armor: k.Armor})
	}
	if fmt.Sprintf("%x", sha256.Sum256([]byte(get(t, world, found.URL).body))) != found.Sum {
		return errArchive
	}
	if err := sums.Check(found.Filename, found.Sum); err != nil {
		return err
	}
	_, err := signing.Check(document, []byte(get(t, world, found.SignatureURL).body), keys, signing.Options{})
	return err
}

func TestProviderShapes(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(twoProviders))
	for shape, want := range map[modtest.ProviderShape]error{
		modtest.ProviderSigned:           nil,
		modtest.ProviderNullKey:          nil,
		modtest.ProviderBrokenKey:        nil,
		modtest.ProviderExpiredKey:       nil,
		modtest.ProviderBlankLines:       nil,
		modtest.ProviderMalformedLine:    nil,
		modtest.ProviderNoKeys:           signing.ErrNoKeys,
		modtest.ProviderUnknownKey:       signing.ErrUnknownKey,
		modtest.ProviderWrongSignature:   signing.ErrInvalid,
		modtest.ProviderArmoredSignature: signing.ErrMalformed,
		modtest.ProviderOtherSum:         errArchive,
		modtest.ProviderOtherListedSum:   signing.ErrOtherSum,
		modtest.ProviderNotListed:        signing.ErrNoSum,
		modtest.ProviderChangedArchive:   errArchive,
		modtest.ProviderOtherPlatform:    registryclient.ErrInvalidAnswer,
		modtest.ProviderNoFilename:       registryclient.ErrInvalidAnswer,
	} {
		if err := world.SetProviderShape("acme/cloud", "1.0.0", shape); err != nil {
			t.Fatal(err)
		}
		found, err := client(world).ProviderPackage(t.Context(), provider(world, "acme/cloud"), versionspkg.MustParse("1.0.0"), linux)
		if err == nil {
			err = tryProvider(t, world, found)
		}
		if !errors.Is(err, want) {
			t.Errorf("shape %d: %v, want %v", shape, err, want)
		}
	}
}

func TestProviderOptions(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(twoProviders), modtest.Options{
		ProviderProtocols: []string{"7.0"}, ProviderMoved: map[string]string{"cloud": "acme/cloud"}, Token: "s3cret",
	})
	if r := get(t, world, "/v1/providers/acme/cloud/versions"); r.status != http.StatusUnauthorized {
		t.Errorf("without a token: status %d, want 401", r.status)
	}
	token := []string{"Authorization", "Bearer s3cret"}
	if r := get(t, world, "/v1/providers/acme/cloud/1.0.0/download/linux/amd64", token...); !strings.Contains(r.body, `"protocols":["7.0"]`) {
		t.Errorf("download = %q, want the protocol 7.0", r.body)
	}
	if r := get(t, world, "/v1/providers/-/cloud/versions", token...); !strings.Contains(r.body, `"moved_to":"acme/cloud"`) {
		t.Errorf("versions without a namespace = %q", r.body)
	}
	for _, path := range []string{"acme/none/versions", "acme/cloud/9.0.0/download/linux/amd64", "acme/cloud/1.10.0/download/darwin/arm64", "-/none/versions"} {
		if r := get(t, world, "/v1/providers/"+path, token...); r.status != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, r.status)
		}
	}
	without := modtest.NewWith(t, modtest.Txtar(twoProviders), modtest.Options{NoProviders: true})
	if _, err := client(without).ProviderVersions(t.Context(), provider(without, "acme/cloud")); !errors.Is(err, disco.ErrServiceNotProvided) {
		t.Errorf("NoProviders: %v, want ErrServiceNotProvided", err)
	}
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
		if err := world.PublishProvider("acme/cloud", "1.0.0", platform, files); err != nil {
			t.Fatal(err)
		}
	}
	checkProvider(t, world, "acme/cloud", "1.0.0")
	if _, after, err := world.ProviderHashes("acme/cloud", "1.0.0", "linux_amd64"); before == after || err != nil {
		t.Errorf("hashes %v and %v, %v, want different ones", before, after, err)
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

func TestProviderNetworkMirror(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(twoProviders))
	base := world.ProviderMirrorURL() + "registry.example.com/acme/cloud/"
	index := get(t, world, base+"index.json")
	if want := `{"versions":{"1.0.0":{},"1.10.0":{}}}` + "\n"; index.body != want || index.header.Get("Content-Type") != "application/json" {
		t.Errorf("index.json = %q of the type %q", index.body, index.header.Get("Content-Type"))
	}
	var version struct {
		Archives map[string]struct {
			URL    string
			Hashes []string
		}
	}
	if err := json.Unmarshal([]byte(get(t, world, base+"1.0.0.json").body), &version); err != nil {
		t.Fatal(err)
	}
	h1, zh, _ := world.ProviderHashes("acme/cloud", "1.0.0", "linux_amd64")
	found := version.Archives["linux_amd64"]
	if !slices.Equal(found.Hashes, []string{string(h1), string(zh)}) || len(version.Archives) != 2 {
		t.Errorf("1.0.0.json: %+v", version)
	}
	if sum := fmt.Sprintf("zh:%x", sha256.Sum256([]byte(get(t, world, base+found.URL).body))); sum != string(zh) {
		t.Errorf("the archive has %s, want %s", sum, zh)
	}
	for _, path := range []string{"2.0.0.json", "x.zip", "../none/index.json"} {
		if r := get(t, world, base+path); r.status == http.StatusOK {
			t.Errorf("%s: status 200", path)
		}
	}
}

func TestWriteProviderMirror(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(twoProviders))
	dir := t.TempDir()
	for _, mirror := range []modtest.ProviderMirror{{}, {Host: "registry.example.com", Unpacked: true}} {
		if err := world.WriteProviderMirror(dir, mirror); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, strings.ReplaceAll(name, string(world.Host()), "HOST"))
		}
		return err
	})
	want := []string{
		"HOST/acme/cloud/terraform-provider-cloud_1.0.0_darwin_arm64.zip",
		"HOST/acme/cloud/terraform-provider-cloud_1.0.0_linux_amd64.zip",
		"HOST/acme/cloud/terraform-provider-cloud_1.10.0_linux_amd64.zip",
		"HOST/acme/disk/terraform-provider-disk_0.1.0-rc.1_linux_amd64.zip",
		"registry.example.com/acme/cloud/1.0.0/darwin_arm64/terraform-provider-cloud_v1.0.0",
		"registry.example.com/acme/cloud/1.0.0/linux_amd64/docs/README.md",
		"registry.example.com/acme/cloud/1.0.0/linux_amd64/terraform-provider-cloud_v1.0.0",
		"registry.example.com/acme/cloud/1.10.0/linux_amd64/terraform-provider-cloud_v1.10.0",
		"registry.example.com/acme/disk/0.1.0-rc.1/linux_amd64/terraform-provider-disk",
	}
	slices.Sort(found)
	slices.Sort(want)
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Errorf("the mirror: %v (-want +got):\n%s", err, diff)
	}
	h1, _, _ := world.ProviderHashes("acme/cloud", "1.0.0", "linux_amd64")
	got, err := hashing.Dir(t.Context(), filepath.Join(dir, "registry.example.com/acme/cloud/1.0.0/linux_amd64"))
	if got != h1 || err != nil {
		t.Errorf("the unpacked package has %s, %v, want %s", got, err, h1)
	}
}

func TestOCIProvider(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(twoProviders))
	if err := world.PublishProvider("acme/cloud", "2.0.0+b", "linux_amd64", modtest.Txtar("-- terraform-provider-cloud --\n")); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"1.0.0", "2.0.0+b"} {
		if err := world.PushOCIProvider("mirror/acme/cloud", "acme/cloud", version); err != nil {
			t.Fatal(err)
		}
	}
	manifest(t, world, "mirror/acme/cloud", "2.0.0_b")
	var index struct {
		ArtifactType string
		Manifests    []struct {
			ArtifactType, Digest string
			Platform             struct{ OS, Architecture string }
		}
	}
	if err := json.Unmarshal([]byte(get(t, world, "/v2/mirror/acme/cloud/manifests/1.0.0").body), &index); err != nil {
		t.Fatal(err)
	}
	if index.ArtifactType != "application/vnd.opentofu.provider" || len(index.Manifests) != 2 || index.Manifests[1].Platform.OS != "linux" {
		t.Fatalf("index = %+v", index)
	}
	_, m := manifest(t, world, "mirror/acme/cloud", index.Manifests[1].Digest)
	_, zh, _ := world.ProviderHashes("acme/cloud", "1.0.0", "linux_amd64")
	if m.ArtifactType != "application/vnd.opentofu.provider-target" || len(m.Layers) != 1 || m.Layers[0].MediaType != "archive/zip" ||
		strings.TrimPrefix(m.Layers[0].Digest, "sha256:") != strings.TrimPrefix(string(zh), "zh:") {
		t.Errorf("manifest = %+v", m)
	}
}
