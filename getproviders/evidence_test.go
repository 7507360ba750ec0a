package getproviders_test

import (
	"net/url"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/getproviders"
)

// TestEvidence has what each source can say about a provider. Where the packages of a directory
// come from does not decide that, but how the directory was named.
func TestEvidence(t *testing.T) {
	t.Parallel()
	template, err := getproviders.ParseRepositoryTemplate("oci.example.com/${hostname}/${namespace}/${type}")
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("plugins")
	if err != nil {
		t.Fatal(err)
	}
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
		{"a registry", trusting, other, []evidence.Evidence{{Kind: evidence.Signature}}, nil},
		{"a trusted registry", trusting, acme, []evidence.Evidence{{Kind: evidence.Signature}, {Kind: evidence.Origin}}, nil},
		{"a directory", getproviders.FilesystemMirror{Dir: here}, acme, []evidence.Evidence{mirror(here)}, []evidence.Evidence{mirror(here)}},
		{"a directory relative to this process", getproviders.FilesystemMirror{Dir: "plugins"}, acme, []evidence.Evidence{mirror(here)}, []evidence.Evidence{mirror(here)}},
		{"a directory of the project", brought, acme, []evidence.Evidence{{Kind: evidence.Project, By: "plugins"}}, []evidence.Evidence{{Kind: evidence.Project, By: "plugins"}}},
		{"a network mirror", network, acme, []evidence.Evidence{mirror("https://mirror.example.com/m/")}, nil},
		{"a network mirror without a URL", &getproviders.NetworkMirror{}, acme, []evidence.Evidence{{}}, nil},
		{"an OCI mirror", &getproviders.OCIMirror{Repository: template}, acme, []evidence.Evidence{mirror("oci://" + template.String())}, nil},
		{
			"several", getproviders.Multi{{Source: brought}, {Source: network, Include: []getproviders.Pattern{pattern}}, {Source: trusting}}, acme,
			[]evidence.Evidence{{Kind: evidence.Project, By: "plugins"}, {Kind: evidence.Signature}, {Kind: evidence.Origin}}, []evidence.Evidence{{Kind: evidence.Project, By: "plugins"}},
		},
		{"nothing", getproviders.Multi{{Source: brought, Exclude: []getproviders.Pattern{pattern}}}, other, nil, nil},
	} {
		if diff := cmp.Diff(test.want, test.source.Evidence(test.of)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.local, test.source.Local().Evidence(test.of)); diff != "" {
			t.Errorf("%s, its local part (-want +got):\n%s", test.name, diff)
		}
	}
}
