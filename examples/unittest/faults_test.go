package unittest

import (
	"errors"
	"net/http"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

// A few lines make a server fail, so a test can check how the tool handles each kind of error.
func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault modtest.Fault
		fails bool
	}{
		{"a registry that is overloaded once", modtest.Fault{Path: "/v1/modules/", Status: http.StatusServiceUnavailable, Times: 1}, false},
		{"a registry that wants a login", modtest.Fault{Path: "/v1/modules/", Status: http.StatusUnauthorized}, true},
		{"a package that has vanished", modtest.Fault{Path: "/packages/", Status: http.StatusNotFound}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			world := modtest.NewWith(t, modtest.Txtar(`
-- config/main.tf --
module "network" {
  source = "registry.example.com/acme/network/aws"
}
-- registry/acme/network/aws/1.2.0/main.tf --
`), modtest.Options{Archives: true})
			world.SetFaults(tt.fault)
			_, err := world.Installer().Install(t.Context(), installer.Project{Dir: world.Dir(t, "config")}, installer.InstallOptions{})
			var failed *installer.ModuleError
			if errors.As(err, &failed) != tt.fails {
				t.Fatalf("Install = %v, want an error: %v", err, tt.fails)
			}
			if failed != nil && (failed.Path.String() != "network" || failed.Range.Start.Line != 2) {
				t.Errorf("the error is about %s at %s", failed.Path, failed.Range)
			}
		})
	}
}
