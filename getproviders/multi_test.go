package getproviders_test

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

func provider(t testing.TB, source string) addrs.Provider {
	t.Helper()
	p, err := addrs.ParseProviderSource(source)
	testenv.Must(t, err)
	return p
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, shown string
		matches        []string
		others         []string
	}{
		{
			pattern: "acme/x", shown: "registry.opentofu.org/acme/x",
			matches: []string{"acme/x", "registry.opentofu.org/acme/x"},
			others:  []string{"acme/y", "other/x", "example.com/acme/x", "registry.terraform.io/acme/x"},
		},
		{
			pattern: "acme/*", shown: "registry.opentofu.org/acme/*", matches: []string{"acme/x", "acme/y"},
			others: []string{"example.com/acme/x", "other/x"},
		},
		{
			pattern: "*/*", shown: "registry.opentofu.org/*/*", matches: []string{"acme/x", "null"},
			others: []string{"example.com/acme/x"},
		},
		{pattern: "*/*/*", shown: "*/*/*", matches: []string{"acme/x", "example.com/acme/x", "localhost:8443/a/b"}},
		{
			pattern: "example.com/*/*", shown: "example.com/*/*", matches: []string{"example.com/acme/x"},
			others: []string{"acme/x", "example.com:8443/acme/x"},
		},
		{
			pattern: "example.com/acme/*", shown: "example.com/acme/*", matches: []string{"example.com/acme/x"},
			others: []string{"example.com/other/x"},
		},
		{pattern: "EXAMPLE.com:443/ACME/X", shown: "example.com/acme/x", matches: []string{"example.com/acme/x"}},
		{
			pattern: "localhost:8080/*/*", shown: "localhost:8080/*/*", matches: []string{"localhost:8080/a/b"},
			others: []string{"localhost/a/b"},
		},
		{pattern: "bücher.example/a/b", shown: "bücher.example/a/b", matches: []string{"bücher.example/a/b"}},
		{pattern: "a/terraform-x", shown: "registry.opentofu.org/a/terraform-x", others: []string{"a/x"}},
	} {
		p, err := getproviders.ParsePattern(test.pattern, "")
		if err != nil || p.String() != test.shown {
			t.Errorf("ParsePattern(%q) = %q, %v, want %q", test.pattern, p, err, test.shown)
		}
		for want, sources := range map[bool][]string{true: test.matches, false: test.others} {
			for _, source := range sources {
				if p.Matches(provider(t, source)) != want {
					t.Errorf("%q matches %q: %v, want %v", test.pattern, source, !want, want)
				}
			}
		}
		if (getproviders.Pattern{}).Matches(addrs.Provider{Hostname: "a", Namespace: "b", Type: "c"}) {
			t.Error("the zero Pattern matches")
		}
	}
	for _, bad := range []string{
		"", "*", "null", "a/b/c/d", "*/b", "*/a/b", "*/*/b", "*/a/*", "example.com/*/b", "a/b*", "a b/c", "a_b/*", "a_b/x/y", "-/x", "a//b", "/a/b", "a/", "x*.com/a/b",
	} {
		if p, err := getproviders.ParsePattern(bad, ""); err == nil {
			t.Errorf("ParsePattern(%q) = %q, want an error", bad, p)
		}
	}
	terraform, err := getproviders.ParsePattern("acme/*", addrs.TerraformRegistryHost)
	if err != nil || !terraform.Matches(provider(t, "registry.terraform.io/acme/x")) {
		t.Errorf("with terraform's default host: %q, %v", terraform, err)
	}
	exact := getproviders.ExactPattern(provider(t, "acme/x"))
	if again, err := getproviders.ParsePattern(exact.String(), ""); again != exact || err != nil {
		t.Errorf("%q is read as %q, %v", exact, again, err)
	}
}

func FuzzParsePattern(f *testing.F) {
	for _, seed := range []string{"a/b", "*/*/*", "example.com:8443/a/*", "bücher.example/Straße/x", "a/b/c/d", "*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := getproviders.ParsePattern(s, "")
		if err != nil {
			return
		}
		if again, err := getproviders.ParsePattern(p.String(), ""); err != nil || again != p {
			t.Errorf("ParsePattern(%q) = %q, which is read as %q, %v", s, p, again, err)
		}
	})
}

var (
	linux  = addrs.Platform{OS: "linux", Arch: "amd64"}
	darwin = addrs.Platform{OS: "darwin", Arch: "arm64"}
)

type shelf struct {
	name     string
	packages map[string][]addrs.Platform // platforms by version; nil if it does not list them
	err      error
}

func (s shelf) Versions(context.Context, addrs.Provider) (getproviders.Listing, error) {
	if s.err != nil {
		return getproviders.Listing{}, s.err
	}
	listing := getproviders.Listing{Warnings: []string{s.name}}
	for version, platforms := range s.packages {
		listing.Versions = append(listing.Versions, getproviders.Version{Version: versions.MustParse(version), Platforms: platforms})
	}
	slices.SortFunc(listing.Versions, func(a, b getproviders.Version) int { return a.Version.Compare(b.Version) })
	return listing, nil
}

func (s shelf) Evidence(addrs.Provider) []evidence.Evidence {
	return []evidence.Evidence{{Kind: evidence.Mirror, By: s.name}}
}

func (s shelf) Local() getproviders.Source { return s }

func (s shelf) Package(_ context.Context, _ addrs.Provider, v versions.Version, platform addrs.Platform) (getproviders.Package, error) {
	platforms, ok := s.packages[v.String()]
	switch {
	case s.err != nil:
		return nil, s.err
	case !ok:
		return nil, getproviders.ErrNotFound
	case platforms != nil && !slices.Contains(platforms, platform):
		return nil, getproviders.ErrUnsupportedPlatform
	}
	return named{name: s.name}, nil
}

type named struct {
	getproviders.Package
	name string
}

func (n named) Location() string { return n.name }

func patterns(t testing.TB, texts ...string) []getproviders.Pattern {
	t.Helper()
	var parsed []getproviders.Pattern
	for _, text := range texts {
		p, err := getproviders.ParsePattern(text, "")
		testenv.Must(t, err)
		parsed = append(parsed, p)
	}
	return parsed
}

func shown(listing getproviders.Listing) []string {
	var all []string
	for _, v := range listing.Versions {
		text := v.Version.String()
		for _, p := range v.Platforms {
			text += " " + p.String()
		}
		all = append(all, text)
	}
	return all
}

func TestMulti(t *testing.T) {
	t.Parallel()
	mirror := shelf{name: "mirror", packages: map[string][]addrs.Platform{"1.0.0": {linux}, "2.0.0": {darwin}}}
	other := shelf{name: "other", packages: map[string][]addrs.Platform{"1.0.0": {darwin, linux}}}
	registry := shelf{name: "registry", packages: map[string][]addrs.Platform{"1.0.0": nil, "1.1.0": nil}}
	absent := shelf{name: "absent", err: getproviders.ErrNotFound}
	m := getproviders.Multi{
		{Source: absent},
		{Source: mirror, Include: patterns(t, "acme/*")},
		{Source: other, Include: patterns(t, "acme/*"), Exclude: patterns(t, "acme/y")},
		{Source: registry, Exclude: patterns(t, "acme/x", "gone/*")},
	}
	for _, test := range []struct {
		source string
		want   []string          // versions and their platforms
		from   map[string]string // the method that the package is from, by version and platform
	}{
		{
			"acme/x",
			[]string{"1.0.0 linux_amd64 darwin_arm64", "2.0.0 darwin_arm64"},
			map[string]string{
				"1.0.0 linux_amd64": "mirror", "1.0.0 darwin_arm64": "other", "2.0.0 darwin_arm64": "mirror",
				"2.0.0 linux_amd64": "no package for this platform", "3.0.0 linux_amd64": "not found",
			},
		},
		{
			"acme/y", // the registry does not say for which platforms it has packages
			[]string{"1.0.0", "2.0.0 darwin_arm64", "1.1.0"},
			map[string]string{
				"1.0.0 linux_amd64": "mirror", "1.0.0 darwin_arm64": "registry", "1.1.0 linux_amd64": "registry",
				"2.0.0 linux_amd64": "no package for this platform",
			},
		},
		{"null", []string{"1.0.0", "1.1.0"}, map[string]string{"1.0.0 linux_amd64": "registry"}},
		{"gone/x", nil, map[string]string{"1.0.0 linux_amd64": "not found"}},
	} {
		listing, err := m.Versions(t.Context(), provider(t, test.source))
		if isFound := err == nil; isFound != (test.want != nil) || !isFound && !errors.Is(err, getproviders.ErrNotFound) {
			t.Errorf("%s: Versions: %v", test.source, err)
		}
		if diff := cmp.Diff(test.want, shown(listing)); diff != "" {
			t.Errorf("%s: versions (-want +got):\n%s", test.source, diff)
		}
		for _, version := range []string{"1.0.0", "1.1.0", "2.0.0", "3.0.0"} {
			for _, platform := range []addrs.Platform{linux, darwin} {
				want, ok := test.from[version+" "+platform.String()]
				if !ok {
					continue
				}
				got := ""
				found, err := m.Package(t.Context(), provider(t, test.source), versions.MustParse(version), platform)
				switch {
				case err == nil:
					got = found.Location()
				case errors.Is(err, getproviders.ErrUnsupportedPlatform) && !errors.Is(err, getproviders.ErrNotFound):
					got = getproviders.ErrUnsupportedPlatform.Error()
				case errors.Is(err, getproviders.ErrNotFound):
					got = getproviders.ErrNotFound.Error()
				}
				if got != want {
					t.Errorf("%s %s for %s: from %q, want %q; %v", test.source, version, platform, got, want, err)
				}
			}
		}
	}
}

// TestMultiFailure also checks that a Multi without methods has no providers.
func TestMultiFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	m := getproviders.Multi{
		{Source: shelf{err: broken}},
		{Source: shelf{packages: map[string][]addrs.Platform{"1.0.0": nil}}},
	}
	null, one := provider(t, "null"), versions.MustParse("1.0.0")
	if _, err := m.Versions(t.Context(), null); !errors.Is(err, broken) {
		t.Errorf("Versions: %v, want %v", err, broken)
	}
	if _, err := m.Package(t.Context(), null, one, linux); !errors.Is(err, broken) {
		t.Errorf("Package: %v, want %v", err, broken)
	}
	nothing := getproviders.Multi{}
	_, err := nothing.Package(t.Context(), null, one, linux)
	want := "provider registry.opentofu.org/hashicorp/null 1.0.0 for linux_amd64: no source is configured for it"
	if err == nil || err.Error() != want || !errors.Is(err, getproviders.ErrNotFound) {
		t.Errorf("Package: %v, want %q", err, want)
	}
	if _, err := nothing.Versions(t.Context(), null); !errors.Is(err, getproviders.ErrNotFound) {
		t.Errorf("Versions: %v", err)
	}
}

// TestEvidence has what each source can say about a provider. Where the packages of a directory
// come from does not decide that, but how the directory was named.
func TestEvidence(t *testing.T) {
	t.Parallel()
	template, err := getproviders.ParseRepositoryTemplate("oci.example.com/${hostname}/${namespace}/${type}")
	testenv.Must(t, err)
	here, err := filepath.Abs("plugins")
	testenv.Must(t, err)
	acme, other := provider(t, "acme/x"), addrs.Provider{Hostname: "example.com", Namespace: "acme", Type: "x"}
	pattern := getproviders.ExactPattern(other)
	network := &getproviders.NetworkMirror{URL: &url.URL{Scheme: "https", Host: "mirror.example.com", Path: "/m/", User: url.UserPassword("user", "secret")}}
	trusting := &getproviders.Direct{TrustedHost: acme.Hostname}
	brought := getproviders.FilesystemMirror{Dir: "plugins", InProject: true}
	mirror := func(by string) evidence.Evidence {
		return evidence.Evidence{Kind: evidence.Mirror, By: "the mirror " + by}
	}
	for _, test := range []struct {
		name   string
		source getproviders.Source
		of     addrs.Provider
		want   []evidence.Evidence
		local  []evidence.Evidence
	}{
		{name: "a registry", source: trusting, of: other, want: []evidence.Evidence{{Kind: evidence.Signature}}},
		{
			name: "a trusted registry", source: trusting, of: acme,
			want: []evidence.Evidence{{Kind: evidence.Signature}, {Kind: evidence.Origin}},
		},
		{
			name: "a directory", source: getproviders.FilesystemMirror{Dir: here}, of: acme,
			want: []evidence.Evidence{mirror(here)}, local: []evidence.Evidence{mirror(here)},
		},
		{
			name: "a directory relative to this process", source: getproviders.FilesystemMirror{Dir: "plugins"}, of: acme,
			want: []evidence.Evidence{mirror(here)}, local: []evidence.Evidence{mirror(here)},
		},
		{
			name: "a directory of the project", source: brought, of: acme,
			want:  []evidence.Evidence{{Kind: evidence.Project, By: "plugins"}},
			local: []evidence.Evidence{{Kind: evidence.Project, By: "plugins"}},
		},
		{
			name: "a network mirror", source: network, of: acme,
			want: []evidence.Evidence{mirror("https://mirror.example.com/m/")},
		},
		{
			name: "a network mirror without a URL", source: &getproviders.NetworkMirror{}, of: acme,
			want: []evidence.Evidence{{}},
		},
		{
			name: "an OCI mirror", source: &getproviders.OCIMirror{Repository: template}, of: acme,
			want: []evidence.Evidence{mirror("oci://" + template.String())},
		},
		{
			name:   "several",
			source: getproviders.Multi{{Source: brought}, {Source: network, Include: []getproviders.Pattern{pattern}}, {Source: trusting}},
			of:     acme,
			want:   []evidence.Evidence{{Kind: evidence.Project, By: "plugins"}, {Kind: evidence.Signature}, {Kind: evidence.Origin}},
			local:  []evidence.Evidence{{Kind: evidence.Project, By: "plugins"}},
		},
		{
			name: "nothing", source: getproviders.Multi{{Source: brought, Exclude: []getproviders.Pattern{pattern}}},
			of: other,
		},
	} {
		if diff := cmp.Diff(test.want, test.source.Evidence(test.of)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.local, test.source.Local().Evidence(test.of)); diff != "" {
			t.Errorf("%s, its local part (-want +got):\n%s", test.name, diff)
		}
	}
}
