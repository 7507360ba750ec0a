package getproviders_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

const packages = `
-- providers/acme/cloud/1.0.0/linux_amd64/terraform-provider-cloud_v1.0.0 --
linux
-- providers/acme/cloud/1.0.0/darwin_arm64/terraform-provider-cloud_v1.0.0 --
darwin
-- providers/acme/cloud/1.1.0/linux_amd64/terraform-provider-cloud_v1.1.0 --
newer
`

var v100 = versions.MustParse("1.0.0")

func direct(world *modtest.World) *getproviders.Direct {
	client := world.HTTPClient()
	return &getproviders.Direct{
		Registry:   &registryclient.Client{Services: &disco.Client{HTTPClient: client}, HTTPClient: client, Attempts: 1},
		HTTPClient: client, Attempts: 1,
	}
}

func cloud(world *modtest.World) addrs.Provider {
	return addrs.Provider{Hostname: world.Host(), Namespace: "acme", Type: "cloud"}
}

func hashesOf(t testing.TB, world *modtest.World, scheme string, platforms ...addrs.Platform) []hashing.Hash {
	t.Helper()
	var hashes []hashing.Hash
	for _, platform := range platforms {
		h1, zh, err := world.ProviderHashes("acme/cloud", "1.0.0", platform.String())
		testenv.Must(t, err)
		if hashes = append(hashes, zh); scheme == "" {
			hashes = append(hashes, h1)
		}
	}
	slices.Sort(hashes)
	return hashes
}

// get gets a package like a Getter, but one step after the other.
func get(t testing.TB, d *getproviders.Direct, world *modtest.World, platform addrs.Platform) (getproviders.Authentication, string, error) {
	t.Helper()
	pkg, err := d.Package(t.Context(), cloud(world), v100, platform)
	if err != nil {
		return getproviders.Authentication{}, "", err
	}
	auth, err := pkg.Authenticate(t.Context())
	if err != nil {
		return auth, "", err
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "archive"))
	testenv.Must(t, err)
	defer file.Close()
	if err := pkg.Download(t.Context(), file, nil); err != nil {
		return auth, "", err
	}
	text, err := os.ReadFile(file.Name())
	return auth, string(text), err
}

func TestDirect(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(packages), modtest.Options{ProviderWarnings: []string{"it moves soon"}})
	d := direct(world)
	listing, err := d.Versions(t.Context(), cloud(world))
	testenv.Must(t, err)
	var offered []string
	for _, v := range listing.Versions {
		offered = append(offered, v.Version.String())
	}
	slices.Sort(offered)
	if diff := cmp.Diff([]string{"1.0.0", "1.1.0"}, offered); diff != "" || !slices.Equal(listing.Warnings, []string{"it moves soon"}) {
		t.Errorf("Versions: %v (-want +got):\n%s", listing.Warnings, diff)
	}
	for _, platform := range []addrs.Platform{linux, darwin} {
		auth, text, err := get(t, d, world, platform)
		if err != nil || !strings.HasPrefix(text, "PK") {
			t.Fatalf("%s: %v", platform, err)
		}
		id, _, _ := world.ProviderKey()
		if auth.Evidence.Kind != evidence.Signature || !strings.HasPrefix(auth.Evidence.By, id+" (modtest") || auth.KeyID != id || auth.Key == "" {
			t.Errorf("%s: %+v, want a signature by %s", platform, auth, id)
		}
		if diff := cmp.Diff(hashesOf(t, world, "zh", linux, darwin), auth.Hashes); diff != "" {
			t.Errorf("%s: hashes (-want +got):\n%s", platform, diff)
		}
		if diff := cmp.Diff(hashesOf(t, world, "zh", platform), auth.Own); diff != "" {
			t.Errorf("%s: own hashes (-want +got):\n%s", platform, diff)
		}
	}
	// Both platforms share the document of sums and its signature.
	asked := map[string]int{}
	for _, r := range world.Requests() {
		asked[r.Path[strings.LastIndex(r.Path, "_")+1:]]++
	}
	if asked["SHA256SUMS"] != 1 || asked["SHA256SUMS.sig"] != 1 {
		t.Errorf("requests: %v, want one for the sums and one for the signature", asked)
	}
}

func TestDirectNotFound(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(packages))
	d := direct(world)
	missing := addrs.Provider{Hostname: world.Host(), Namespace: "acme", Type: "none"}
	if _, err := d.Versions(t.Context(), missing); !errors.Is(err, getproviders.ErrNotFound) {
		t.Errorf("Versions of an unknown provider = %v, want ErrNotFound", err)
	}
	windows := addrs.Platform{OS: "windows", Arch: "amd64"}
	_, err := d.Package(t.Context(), cloud(world), v100, windows)
	if _, ok := errors.AsType[*registryclient.RequestError](err); !ok || !errors.Is(err, getproviders.ErrUnsupportedPlatform) {
		t.Errorf("Package for another platform = %v, want ErrUnsupportedPlatform over a *RequestError", err)
	}
}

func TestDirectShapes(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(packages))
	all, own := hashesOf(t, world, "zh", linux, darwin), hashesOf(t, world, "zh", linux)
	refused := errors.New("any error")
	for _, test := range []struct {
		name     string
		shape    modtest.ProviderShape
		trusted  bool
		err      error
		hashes   []hashing.Hash
		unsigned bool
		warnings int
	}{
		{name: "signed", shape: modtest.ProviderSigned, hashes: all},
		{name: "a key that is null", shape: modtest.ProviderNullKey, hashes: all},
		{name: "a broken key first", shape: modtest.ProviderBrokenKey, hashes: all},
		{name: "an expired key", shape: modtest.ProviderExpiredKey, hashes: all, warnings: 1},
		{name: "blank lines", shape: modtest.ProviderBlankLines, hashes: all},
		{name: "a malformed line", shape: modtest.ProviderMalformedLine, hashes: own},
		{name: "no keys", shape: modtest.ProviderNoKeys, err: getproviders.ErrNoKeys},
		{name: "no keys, trusted host", shape: modtest.ProviderNoKeys, trusted: true, hashes: all, unsigned: true},
		{name: "another key", shape: modtest.ProviderUnknownKey, err: getproviders.ErrUnknownKey},
		{name: "another key, trusted host", shape: modtest.ProviderUnknownKey, trusted: true, err: getproviders.ErrUnknownKey},
		{name: "another signature", shape: modtest.ProviderWrongSignature, err: getproviders.ErrInvalidSignature},
		{name: "an armoured signature", shape: modtest.ProviderArmoredSignature, err: getproviders.ErrMalformedSignature},
		{name: "another sum announced", shape: modtest.ProviderOtherSum, err: getproviders.ErrOtherSum},
		{name: "another sum listed", shape: modtest.ProviderOtherListedSum, err: getproviders.ErrOtherSum},
		{name: "not listed", shape: modtest.ProviderNotListed, err: getproviders.ErrNoSum},
		{name: "another archive", shape: modtest.ProviderChangedArchive, err: refused},
		{name: "another platform", shape: modtest.ProviderOtherPlatform, err: registryclient.ErrInvalidAnswer},
		{name: "no filename", shape: modtest.ProviderNoFilename, err: registryclient.ErrInvalidAnswer},
	} {
		testenv.Must(t, world.SetProviderShape("acme/cloud", "1.0.0", test.shape))
		d := direct(world)
		if test.trusted {
			d.TrustedHost = world.Host()
		}
		auth, _, err := get(t, d, world, linux)
		if test.err != nil {
			_, isMismatch := errors.AsType[*getproviders.MismatchError](err)
			if !errors.Is(err, test.err) && !(isMismatch && errors.Is(test.err, refused)) {
				t.Errorf("%s: %v, want %v", test.name, err, test.err)
			}
			continue
		}
		if err != nil || (auth.Evidence.Kind == evidence.Origin) != test.unsigned || (auth.Evidence.Kind == evidence.Signature) == test.unsigned || len(auth.Warnings) != test.warnings {
			t.Errorf("%s: %+v, %v", test.name, auth, err)
		}
		if diff := cmp.Diff(test.hashes, auth.Hashes); diff != "" {
			t.Errorf("%s: hashes (-want +got):\n%s", test.name, diff)
		}
	}
}

// The hashes that a registry reports for all platforms are recorded only for the trusted host.
func TestDirectReported(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(packages), modtest.Options{ProviderReported: true})
	for trusted, want := range map[addrs.Hostname][]hashing.Hash{
		"":           hashesOf(t, world, "zh", linux, darwin),
		"other.test": hashesOf(t, world, "zh", linux, darwin),
		world.Host(): hashesOf(t, world, "", linux, darwin),
	} {
		d := direct(world)
		d.TrustedHost = trusted
		auth, _, err := get(t, d, world, linux)
		if diff := cmp.Diff(want, auth.Hashes); diff != "" || err != nil {
			t.Errorf("trusted host %q: %v, hashes (-want +got):\n%s", trusted, err, diff)
		}
		if isTrusted := trusted == world.Host(); len(auth.Own) != map[bool]int{false: 1, true: 2}[isTrusted] {
			t.Errorf("trusted host %q: own hashes %v", trusted, auth.Own)
		}
	}
}

// renaming is a registry that has no providers, and knows the new addresses of providers in the
// namespace "hashicorp".
type renaming struct{ getproviders.Registry }

func (renaming) ProviderVersions(context.Context, addrs.Provider) (registryclient.ProviderListing, error) {
	return registryclient.ProviderListing{}, registryclient.ErrNotFound
}

func (renaming) ProviderRenamed(_ context.Context, provider addrs.Provider) (addrs.Provider, bool, error) {
	now := addrs.Provider{Hostname: provider.Hostname, Namespace: "acme", Type: provider.Type}
	if provider.Type == "broken" {
		return addrs.Provider{}, false, registryclient.ErrForbidden
	}
	return now, provider.Type == "moved", nil
}

func TestDirectRenamed(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"hashicorp/moved":                       "registry.opentofu.org/acme/moved",
		"registry.terraform.io/hashicorp/moved": "registry.terraform.io/acme/moved",
		"hashicorp/unknown":                     "",
		"hashicorp/broken":                      "",
		"other/moved":                           "",
		"reg.example.com/hashicorp/moved":       "",
	} {
		provider, err := addrs.ParseProviderSource(source)
		testenv.Must(t, err)
		_, err = (&getproviders.Direct{Registry: renaming{}}).Versions(t.Context(), provider)
		renamed, ok := errors.AsType[*getproviders.RenamedError](err)
		if ok != (want != "") || ok && renamed.Now.String() != want || !errors.Is(err, getproviders.ErrNotFound) || !errors.Is(err, registryclient.ErrNotFound) {
			t.Errorf("%s: Versions = %v, want the new address %q", source, err, want)
		}
	}
}

func TestVerifySums(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(packages))
	id, _, err := world.ProviderKey()
	testenv.Must(t, err)
	for name, test := range map[string]struct {
		shape  modtest.ProviderShape
		change func(document []byte) []byte
		refuse bool
		err    error
		hashes []hashing.Hash
	}{
		"signed":                 {shape: modtest.ProviderSigned, hashes: hashesOf(t, world, "zh", linux, darwin)},
		"a malformed line":       {shape: modtest.ProviderMalformedLine},
		"an expired key refused": {shape: modtest.ProviderExpiredKey, refuse: true, err: getproviders.ErrExpiredKey},
		"another document":       {shape: modtest.ProviderSigned, change: func(d []byte) []byte { return append(d, ' ') }, err: getproviders.ErrInvalidSignature},
	} {
		testenv.Must(t, world.SetProviderShape("acme/cloud", "1.0.0", test.shape))
		found, err := direct(world).Registry.ProviderPackage(t.Context(), cloud(world), v100, linux)
		testenv.Must(t, err)
		document, signature := textAt(t, world, found.SumsURL), textAt(t, world, found.SignatureURL)
		if test.change != nil {
			document = test.change(document)
		}
		auth, err := (&getproviders.Direct{RefuseExpired: test.refuse}).VerifySums(document, signature, found.Keys)
		if test.err != nil {
			failure, ok := errors.AsType[*getproviders.AuthenticationError](err)
			if !errors.Is(err, test.err) || !ok || failure.Error() != failure.Err.Error() {
				t.Errorf("%s: %v, want %v", name, err, test.err)
			}
			continue
		}
		if err != nil || auth.Evidence.Kind != evidence.Signature || auth.KeyID != id || len(auth.Warnings) > 0 {
			t.Errorf("%s: %+v, %v", name, auth, err)
		}
		if diff := cmp.Diff(test.hashes, auth.Hashes); diff != "" {
			t.Errorf("%s: hashes (-want +got):\n%s", name, diff)
		}
	}
	if _, err := new(getproviders.Direct).VerifySums(nil, nil, []registryclient.SigningKey{{}}); err == nil {
		t.Error("an empty document without a signature was accepted")
	}
}

func textAt(t *testing.T, world *modtest.World, at string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	testenv.Must(t, err)
	answer, err := world.HTTPClient().Do(req)
	testenv.Must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	testenv.Must(t, err)
	return text
}

// reports has packages with sums at the server of a test.
type reports struct{ getproviders.Registry }

func (reports) ProviderPackage(_ context.Context, provider addrs.Provider, v versions.Version, platform addrs.Platform) (registryclient.ProviderPackage, error) {
	at := "https://cdn.example.com/" + v.String()
	return registryclient.ProviderPackage{Provider: provider, Version: v, Platform: platform, Filename: "a.zip", Sum: strings.Repeat("0", 64), URL: at, SumsURL: at}, nil
}

// TestSumsAreCounted counts documents of sums for a run, which keeps them in memory: the 31st one of the largest size exceeds
// its limit.
func TestSumsAreCounted(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	line := strings.Repeat("1", 64) + "  b.zip\n"
	text := strings.Repeat(line, (1<<20)/len(line))
	text += strings.Repeat("\n", 1<<20-len(text))
	web.Serve("https://cdn.example.com", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	d := &getproviders.Direct{Registry: reports{}, TrustedHost: "registry.example.com", HTTPClient: web.Client(), Attempts: 1}
	testenv.LastExceedsRun(t, 31, func(ctx context.Context, i int) error {
		pkg, err := d.Package(ctx, provider(t, "registry.example.com/acme/x"), versions.MustParse(fmt.Sprintf("1.0.%d", i)), linux)
		testenv.Must(t, err)
		if _, err = pkg.Authenticate(ctx); errors.Is(err, getproviders.ErrNoSum) { // it is not in the document
			return nil
		}
		return err
	})
}
