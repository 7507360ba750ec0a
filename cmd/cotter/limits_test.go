package main

import (
	"testing"

	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/limits"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/registryclient"
)

// TestRegistryDownloadLimit checks that the limit of a download also holds for packages that a registry hosts.
func TestRegistryDownloadLimit(t *testing.T) {
	t.Parallel()
	out := &output{Run: advice.Run{Env: func(name string) string { return map[string]string{limits.MaxDownload: "3GiB"}[name] }}}
	in, err := newInstaller(t.Context(), &invocation{Command: installCommand(out)}, out, request{})
	testenv.Must(t, err)
	if registry, ok := in.Options().Registry.(*registryclient.Client); !ok || registry.MaxDownload != 3<<30 {
		t.Errorf("Registry is %#v, want a client with MaxDownload", in.Options().Registry)
	}
}
