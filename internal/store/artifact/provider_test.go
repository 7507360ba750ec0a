package artifact_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

func release(tb testing.TB, address, version string) artifact.Release {
	tb.Helper()
	provider, err := addrs.ParseProviderSource(address)
	if err != nil {
		tb.Fatal(err)
	}
	number, err := versions.ParseProviderVersion(version)
	if err != nil {
		tb.Fatal(err)
	}
	return artifact.Release{Provider: provider, Version: number}
}

func someProvider(tb testing.TB) artifact.Provider {
	tb.Helper()
	return artifact.Provider{
		Statement: artifact.ProviderStatement{
			Release:  release(tb, "registry.example.com/acme/cloud", "1.2.0"),
			Platform: addrs.Platform{OS: "linux", Arch: "amd64"},
			Hashes:   []hashing.Hash{"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", hashing.Hash("zh:" + strings.Repeat("a", 64))},
		},
		Layer: oci.Descriptor{Digest: "sha256:" + strings.Repeat("a", 64), Size: 12},
	}
}

// A release has a tag in a bundle, and a repository and a tag in a mirror.
func TestReleaseNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ address, version, tag, repository, versionTag string }{
		{"registry.opentofu.org/hashicorp/null", "3.2.1", "provider-registry.opentofu.org_hashicorp_null_3.2.1", "providers/registry.opentofu.org/hashicorp/null", "3.2.1"},
		{"localhost:8080/acme/cloud-two", "1.0.0-rc.1+a.b", "provider-localhost_8080_acme_cloud-two_1.0.0-rc.1_a.b", "providers/localhost_8080/acme/cloud-two", "1.0.0-rc.1_a.b"},
		{"例.example.com/acme/cloud", "1.0.0", "provider-xn--fsq.example.com_acme_cloud_1.0.0", "providers/xn--fsq.example.com/acme/cloud", "1.0.0"},
	} {
		r := release(t, test.address, test.version)
		if r.Tag() != test.tag || artifact.RepositoryOf(r.Provider) != test.repository || r.VersionTag() != test.versionTag {
			t.Errorf("%s %s: %q, %q, %q", test.address, test.version, r.Tag(), artifact.RepositoryOf(r.Provider), r.VersionTag())
		}
	}
	long := release(t, "registry.opentofu.org/"+strings.Repeat("a", 60)+"/"+strings.Repeat("b", 60), "1.0.0")
	if len(long.Tag()) > 128 || long.Tag() == release(t, long.Provider.String(), "1.0.1").Tag() {
		t.Errorf("the tag of a long name is %q", long.Tag())
	}
}

func TestProviderManifest(t *testing.T) {
	t.Parallel()
	want := someProvider(t)
	text, err := want.Manifest()
	testenv.Must(t, err)
	got, err := artifact.ParseProvider(text)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(versions.Version{})); diff != "" || err != nil {
		t.Errorf("ParseProvider: %v\n%s", err, diff)
	}
	for _, test := range []struct{ from, to string }{
		{"provider-target", "modulepkg"},
		{"archive/zip", "application/zip"},
		{"registry.example.com/acme/cloud", "acme/cloud"},
		{"registry.example.com/acme/cloud", "Registry.example.com/acme/cloud"},
		{`"1.2.0"`, `"1.2"`},
		{`"linux_amd64"`, `"linux"`},
		{"h1:47", "t1:47"},
		{"zh:aa", "zh:ab"},
		{`"size":12`, `"size":1073741825`},
		{`"size":12`, `"size":-1`},
		{`"layers"`, `"manifests":[],"layers"`},
	} {
		changed := strings.Replace(string(text), test.from, test.to, 1)
		if _, err := artifact.ParseProvider([]byte(changed)); !errors.Is(err, artifact.ErrManifest) || changed == string(text) {
			t.Errorf("%q instead of %q: %v", test.to, test.from, err)
		}
	}
}

// An index names a manifest for each platform in a fixed order.
func TestProviderIndex(t *testing.T) {
	t.Parallel()
	a := someProvider(t)
	manifest, err := a.Manifest()
	testenv.Must(t, err)
	linux := oci.Target{Platform: a.Statement.Platform, Descriptor: oci.Describe(manifest)}
	mac := oci.Target{Platform: addrs.Platform{OS: "darwin", Arch: "arm64"}, Descriptor: oci.Descriptor{Digest: "sha256:" + strings.Repeat("c", 64), Size: 7}}
	text, err := a.Statement.Index(artifact.Targets{linux, mac})
	testenv.Must(t, err)
	if again, err := a.Statement.Index(artifact.Targets{mac, linux}); err != nil || string(again) != string(text) {
		t.Errorf("in another order: %s, %v", again, err)
	}
	got, err := artifact.ParseIndex(text)
	if diff := cmp.Diff(artifact.Targets{mac, linux}, got); diff != "" || err != nil {
		t.Errorf("ParseIndex: %v\n%s", err, diff)
	}
	if r, err := artifact.ParseReference(text); err != nil || r != a.Statement.Release {
		t.Errorf("ParseReference = %v, %v", r, err)
	}
	reference, err := a.Statement.Reference()
	testenv.Must(t, err)
	if r, err := artifact.ParseReference(reference); err != nil || r != a.Statement.Release {
		t.Errorf("ParseReference = %v, %v", r, err)
	}
	if parsed, err := a.Statement.ParseTarget(linux.Platform, manifest); err != nil || parsed.Layer != a.Layer {
		t.Errorf("ParseTarget = %v, %v", parsed, err)
	}
	if _, err := a.Statement.ParseTarget(mac.Platform, manifest); !errors.Is(err, artifact.ErrManifest) {
		t.Errorf("another platform: %v", err)
	}
	if _, err := release(t, "registry.example.com/acme/cloud", "1.3.0").ParseTarget(linux.Platform, manifest); !errors.Is(err, artifact.ErrManifest) {
		t.Errorf("another version: %v", err)
	}
}

func TestProviderIndexRefused(t *testing.T) {
	t.Parallel()
	a := someProvider(t)
	at := oci.Descriptor{Digest: a.Layer.Digest, Size: 7}
	text, err := a.Statement.Index(artifact.Targets{{Platform: a.Statement.Platform, Descriptor: at}, {Platform: addrs.Platform{OS: "linux", Arch: "arm64"}, Descriptor: at}})
	testenv.Must(t, err)
	for _, test := range []struct{ from, to string }{
		{"opentofu.provider\"", "opentofu.other\""},
		{"image.index", "image.manifest"},
		{`"manifests"`, `"layers":[],"manifests"`},
		{"sha256:a", "sha512:a"},
		{`"size":7`, `"size":0`},
		{`"size":7`, `"size":1048577`},
		{`"arm64"`, `"amd64"`},
		{`"amd64"`, `"../x"`},
	} {
		changed := strings.Replace(string(text), test.from, test.to, 1)
		if _, err := artifact.ParseIndex([]byte(changed)); !errors.Is(err, artifact.ErrManifest) || changed == string(text) {
			t.Errorf("%q instead of %q: %v", test.to, test.from, err)
		}
	}
}

func FuzzParseProvider(f *testing.F) {
	a := someProvider(f)
	manifest, _ := a.Manifest()
	index, _ := a.Statement.Index(artifact.Targets{{Platform: a.Statement.Platform, Descriptor: oci.Descriptor{Digest: a.Layer.Digest, Size: 7}}})
	reference, _ := a.Statement.Reference()
	for _, text := range [][]byte{manifest, index, reference} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, err := artifact.ParseProvider(text); err == nil {
			again, err := got.Manifest()
			testenv.Must(t, err)
			if parsed, err := artifact.ParseProvider(again); err != nil || !cmp.Equal(got, parsed, cmp.AllowUnexported(versions.Version{})) {
				t.Errorf("ParseProvider = %+v, %v, want %+v", parsed, err, got)
			}
		}
		if targets, err := artifact.ParseIndex(text); err == nil {
			again, err := a.Statement.Index(targets)
			testenv.Must(t, err)
			if parsed, err := artifact.ParseIndex(again); err != nil || len(parsed) != len(targets) {
				t.Errorf("ParseIndex = %+v, %v, want %+v", parsed, err, targets)
			}
		}
		if r, err := artifact.ParseReference(text); err == nil && (len(r.Tag()) > 128 || r.Provider.Type == "") {
			t.Errorf("ParseReference = %+v", r)
		}
	})
}
