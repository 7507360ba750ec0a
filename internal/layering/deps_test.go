package layering_test

import (
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestEmbeddable asks the go command what the packages that others embed pull
// in, through any number of steps.
func TestEmbeddable(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not installed")
	}
	// The SDKs, which only the packages for clouds have.
	sdks := []string{"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go", "golang.org/x/oauth2/google", "cloud.google.com/go"}
	// Client libraries that nothing may pull in, not even the command: their
	// initialisation alone took longer than all of ours.
	clients := []string{
		"github.com/hashicorp/aws-sdk-go-base", "cloud.google.com/go/storage", "google.golang.org/api",
		"google.golang.org/grpc", "google.golang.org/genproto", "go.opentelemetry.io/otel", "github.com/envoyproxy/go-control-plane",
	}
	// What only getmodules/gogetter has. It adds 1.1 MB, and has nothing for the
	// command that getmodules/xz does not do better.
	goGetter := []string{"github.com/hashicorp/go-getter"}
	// What only getmodules/xz, and go-getter, have.
	xz := []string{"github.com/ulikunitz/xz"}
	// go-git and oras, which the fetcher may have.
	fetching := []string{"github.com/go-git/go-git", "oras.land/oras-go", "testing"}
	// Templates call methods by names that the linker does not know. It then keeps all
	// methods of all types, which is a quarter of the command.
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

// dependencies asks the go command for all that packages import, by their paths.
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
