package layering_test

import (
	"os/exec"
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
	// go-getter and what it drags along, which only one package has.
	clouds := []string{
		"github.com/hashicorp/go-getter", "github.com/aws/aws-sdk-go-v2", "cloud.google.com/go", "google.golang.org/grpc",
	}
	// go-git, oras and the command's own, which the fetcher may have.
	fetching := []string{"github.com/go-git/go-git", "oras.land/oras-go", "github.com/urfave/cli", "testing"}
	for _, dir := range []string{"addrs", "versions", "hashing", "lockfile", "disco", "registryclient"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			checkDependencies(t, dir, slices.Concat(clouds, fetching))
		})
	}
	for _, dir := range []string{"", "getmodules", "getmodules/hg"} {
		t.Run("/"+dir, func(t *testing.T) {
			t.Parallel()
			checkDependencies(t, dir, clouds)
		})
	}
}

func checkDependencies(t *testing.T, dir string, unwanted []string) {
	t.Helper()
	for _, dep := range dependencies(t, dir) {
		for _, u := range unwanted {
			if matches(dep, u) || strings.HasPrefix(dep, u+"/v") {
				t.Errorf("%q pulls in %s", dir, dep)
			}
		}
	}
}

func dependencies(t *testing.T, dir string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "./"+dir)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -deps ./%s: %v", dir, err)
	}
	return strings.Fields(string(out))
}
