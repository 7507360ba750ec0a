package cotter_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/modtest"
)

// rotating is a source of credentials whose token changes.
type rotating struct {
	credentials
	current *atomic.Value
}

func (r rotating) ForHost(context.Context, addrs.Hostname) (disco.Credentials, error) {
	return disco.BearerToken(r.current.Load().(string)), nil
}

// TestDaemon uses one Installer for several runs: each of them sees new versions, and a new token
// after the old one was refused.
func TestDaemon(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, fstest.MapFS{
		"registry/acme/net/aws/1.0.0/main.tf": {Data: []byte("")},
	}, modtest.Options{Archives: true, Token: "new"})
	dir := t.TempDir()
	call := fmt.Sprintf("module %q {\n  source = %q\n}\n", "net", world.Source("acme/net/aws"))
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(call), 0o600); err != nil {
		t.Fatal(err)
	}
	var token atomic.Value
	token.Store("old")
	in := cotter.New(cotter.Options{HTTPClient: world.HTTPClient(), CacheDir: t.TempDir(), Credentials: rotating{current: &token}, Attempts: 1})
	if _, err := in.Install(t.Context(), cotter.Request{Dir: dir}); err == nil {
		t.Fatal("Install with the wrong token succeeded")
	}
	token.Store("new")
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		if err := world.PublishVersion("acme/net/aws", version, fstest.MapFS{"main.tf": {}}); err != nil {
			t.Fatal(err)
		}
		got, err := in.Install(t.Context(), cotter.Request{Dir: dir, Update: cotter.Update{All: true}})
		if err != nil {
			t.Fatal(err)
		}
		if found := got.Modules[0].Version; found != version {
			t.Errorf("Install chose %s, want %s", found, version)
		}
	}
}
