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
	// What only the packages for clouds have.
	clouds := []string{"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go", "golang.org/x/oauth2/google", "cloud.google.com/go"}
	// What nothing may pull in, not even the command: their initialisation alone
	// took longer than all of ours.
	clientLibraries := []string{
		"github.com/hashicorp/go-getter", "github.com/hashicorp/aws-sdk-go-base", "cloud.google.com/go/storage", "google.golang.org/api",
		"google.golang.org/grpc", "google.golang.org/genproto", "go.opentelemetry.io/otel", "github.com/envoyproxy/go-control-plane",
	}
	// go-git, oras and the command's own, which the fetcher may have.
	fetching := []string{"github.com/go-git/go-git", "oras.land/oras-go", "github.com/urfave/cli", "testing"}
	for _, dir := range []string{"addrs", "versions", "hashing", "lockfile", "disco", "registryclient"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			checkDependencies(t, dir, slices.Concat(clouds, fetching))
		})
	}
	for _, dir := range []string{"", "cliconfig", "getmodules", "getmodules/hg"} {
		t.Run("/"+dir, func(t *testing.T) {
			t.Parallel()
			checkDependencies(t, dir, clouds)
		})
	}
	t.Run("cmd/cotter", func(t *testing.T) {
		t.Parallel()
		checkDependencies(t, "cmd/cotter", clientLibraries)
	})
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
