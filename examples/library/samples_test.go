// Package library_test contains the Go code in the README and in docs/spec/conformance.md. In the
// pages, the code between "// sample: NAME" and "// end" follows a comment with that name. TestPages
// compares them, and the programs of docs/library.md with those in examples/.
package library_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/conformance"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

func installTree(ctx context.Context, cacheDir, stateDir string) error {
	// sample: install
	in := installer.New(installer.Options{CacheDir: cacheDir, StateDir: stateDir}) // the zero value works too, but keeps nothing between runs
	result, err := in.Install(ctx, installer.Project{Dir: "infra"}, installer.InstallOptions{})
	if err != nil {
		return err // one or more *installer.ModuleError, with the file and line of each call
	}
	for _, m := range result.Modules {
		fmt.Println(m.Path, m.Source, m.Version, m.Dir)
	}
	// end
	return nil
}

// testServer stands for an httptest.Server.
type testServer struct{ world *modtest.World }

func (s testServer) Client() *http.Client { return s.world.HTTPClient() }

// TestConformance is the test of a server that docs/spec/conformance.md shows.
func TestConformance(t *testing.T) {
	world := modtest.New(t, modtest.Txtar("-- registry/acme/net/aws/1.2.0/main.tf --\n"))
	server, ctx := testServer{world}, t.Context()
	source, err := addrs.ParseModuleSourceRegistry(world.Source("acme/net/aws"))
	if err != nil {
		t.Fatal(err)
	}
	module := source.Package
	// sample: conformance
	client := conformance.Client{HTTPClient: server.Client()}
	report, err := client.ModuleRegistry(ctx, module)
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		t.Error(err)
	}
	// end
}
