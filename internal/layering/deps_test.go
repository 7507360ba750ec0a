package layering_test

import (
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestEmbeddable uses the go command to list the dependencies, direct and indirect, of the
// packages that other programs embed.
func TestEmbeddable(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not installed")
	}
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
	// go-git and oras, which the fetcher may import.
	fetching := []string{"github.com/go-git/go-git", "oras.land/oras-go", "testing"}
	// Templates call methods by names that the linker does not know. The linker then keeps all
	// methods of all types, which make up a quarter of the command's size.
	templates := []string{"text/template", "html/template"}
	core := slices.Concat(sdks, clients, goGetter, xz, fetching)
	fetcher := slices.Concat(sdks, clients, goGetter, xz)
	packages := map[string][]string{
		"addrs":               core,
		"versions":            core,
		"hashing":             core,
		"lockfile":            core,
		"disco":               core,
		"registryclient":      core,
		".":                   fetcher,
		"cliconfig":           fetcher,
		"getmodules":          fetcher,
		"getmodules/hg":       fetcher,
		"getmodules/xz":       slices.Concat(sdks, clients, goGetter),
		"getmodules/gogetter": slices.Concat(sdks, clients),
		"cmd/cotter":          slices.Concat(clients, goGetter, templates),
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

// dependencies uses the go command to list everything that the packages import, by their paths.
func dependencies(t *testing.T, dirs []string) map[string][]string {
	t.Helper()
	args := []string{"list", "-f", `{{.ImportPath}}{{range .Deps}} {{.}}{{end}}`}
	for _, dir := range dirs {
		args = append(args, "./"+dir)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %q: %v", args, err)
	}
	deps := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		deps[fields[0]] = fields[1:]
	}
	return deps
}
