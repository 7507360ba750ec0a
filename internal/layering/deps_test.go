package layering_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestEmbeddable checks the dependencies, direct and indirect, of the packages that other programs embed.
func TestEmbeddable(t *testing.T) {
	t.Parallel()
	// The SDKs, which only the packages for clouds may import.
	sdks := []string{"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go", "golang.org/x/oauth2/google", "cloud.google.com/go"}
	// Client libraries that no package may import, not even the command: their initialization
	// alone took longer than that of all our packages.
	clients := []string{
		"github.com/hashicorp/aws-sdk-go-base", "cloud.google.com/go/storage", "google.golang.org/api",
		"google.golang.org/grpc", "google.golang.org/genproto", "go.opentelemetry.io/otel", "github.com/envoyproxy/go-control-plane",
	}
	// Only getmodules/gogetter may import these. They add 1.1 MB to a program, and the command
	// does not need them because getmodules/xz does the same job better.
	goGetter := []string{"github.com/hashicorp/go-getter"}
	// Only getmodules/xz and go-getter may import these.
	xz := []string{"github.com/ulikunitz/xz"}
	// oras, which the fetcher may import.
	fetching := []string{"oras.land/oras-go", "testing"}
	core := slices.Concat(sdks, clients, goGetter, xz, fetching)
	fetcher := slices.Concat(sdks, clients, goGetter, xz)
	packages := map[string][]string{
		"addrs":               core,
		"versions":            core,
		"hashing":             core,
		"lockfile":            core,
		"disco":               core,
		"registryclient":      core,
		"getproviders":        slices.Concat(core, []string{"github.com/hashicorp/hcl"}),
		"installer/config":    core,
		"installer/event":     slices.Concat(core, []string{"net/http"}),
		"installer":           fetcher,
		"cliconfig":           fetcher,
		"getmodules":          fetcher,
		"getmodules/hg":       fetcher,
		"getmodules/xz":       slices.Concat(sdks, clients, goGetter),
		"getmodules/gogetter": slices.Concat(sdks, clients),
		"cmd/cotter":          slices.Concat(clients, goGetter),
		"internal/testenv":    {"net/http", "crypto/x509"}, // most tests import it, and would take a second longer to link
	}
	deps := dependencies(t, slices.Collect(maps.Keys(packages)))
	for dir, unwanted := range packages {
		if len(deps[path.Join(module, dir)]) == 0 {
			t.Fatalf("the go command did not report what %q has", dir)
		}
		for _, dep := range deps[path.Join(module, dir)] {
			for _, u := range unwanted {
				if matches(dep, u) || strings.HasPrefix(dep, u+"/v") {
					t.Errorf("%q pulls in %s", dir, dep)
				}
			}
		}
	}
}

// valuePackages are the packages that programs import for values and files alone, with the packages
// of other modules that each may pull in, by module. A program that imports one of them links no
// other modules.
var valuePackages = map[string][]string{
	"installer/evidence":                nil,
	"hashing":                           nil,
	"versions":                          {goVersion, goVersions},
	"addrs":                             hosts,
	"internal/configuration/callsource": slices.Concat(hosts, hcl, []string{goVersion, goVersions}), // for readers, which fetch nothing
	"lockfile":                          slices.Concat(hosts, hcl, []string{goVersion, goVersions}),
	"policy":                            slices.Concat(hosts, hcl, []string{goVersion, goVersions}),
	// It evaluates expressions with OpenTofu's functions, and looks for the git repository around a project, for whose
	// owner it may ask the git command. It has no client.
	"moduletree": slices.Concat(hosts, hcl, []string{
		goVersion, goVersions, "github.com/apparentlymart/go-cidr", "github.com/bmatcuk/doublestar/v4", "github.com/gofrs/flock",
		"github.com/zclconf/go-cty-yaml", "go.yaml.in/yaml/v3", "golang.org/x/sys", "os/exec", "os/user",
	}),
}

// The modules that the packages of values need.
const (
	goVersion  = "github.com/hashicorp/go-version"
	goVersions = "github.com/apparentlymart/go-versions"
)

var (
	// hosts has the syntax of host names, and of the addresses in registries.
	hosts = []string{"github.com/opentofu/registry-address/v2", "github.com/opentofu/svchost", "golang.org/x/net", "golang.org/x/text"}
	// hcl is the parser of HCL, with what it needs.
	hcl = []string{
		"github.com/agext/levenshtein", "github.com/apparentlymart/go-textseg", "github.com/hashicorp/hcl/v2",
		"github.com/mitchellh/go-wordwrap", "github.com/zclconf/go-cty", "golang.org/x/sync",
	}
	// transports are packages of the standard library that these packages must not pull in either.
	transports = []string{"crypto/tls", "net/http", "os/exec", "os/user", "testing"}
)

func TestValuesPullInLittle(t *testing.T) {
	t.Parallel()
	deps := dependencies(t, slices.Collect(maps.Keys(valuePackages)))
	for dir, allowed := range valuePackages {
		found := deps[path.Join(module, dir)]
		if len(found) == 0 {
			t.Fatalf("the go command did not report what %q has", dir)
		}
		used := map[string]bool{}
		for _, dep := range found {
			i := slices.IndexFunc(allowed, func(a string) bool { return matches(dep, a) || strings.HasPrefix(dep, a+"/v") })
			switch first, _, _ := strings.Cut(dep, "/"); {
			case i >= 0:
				used[allowed[i]] = true
			case slices.Contains(transports, dep), strings.Contains(first, ".") && !matches(dep, module):
				t.Errorf("%q pulls in %s", dir, dep)
			}
		}
		for _, name := range allowed {
			if !used[name] {
				t.Errorf("%q does not pull in %s any more; remove it from the table", dir, name)
			}
		}
	}
}

// dependencies returns everything that the packages import, by their paths.
func dependencies(t *testing.T, dirs []string) map[string][]string {
	t.Helper()
	packages, deps := packageList(t), map[string][]string{}
	for _, dir := range dirs {
		name := path.Join(module, dir)
		deps[name] = packages[name].deps
	}
	return deps
}
