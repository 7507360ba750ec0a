package getproviders_test

import (
	"net/url"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/testenv"
)

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
