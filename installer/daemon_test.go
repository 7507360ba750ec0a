package installer_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// rotating has a token that can be replaced.
type rotating struct {
	credentials
	mu    sync.Mutex
	token string
}

func (r *rotating) set(token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.token = token
}

func (r *rotating) ForHost(context.Context, addrs.Hostname) (disco.Credentials, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bearer(r.token), nil
}

// A program that lives long and has one Installer sees a new version and a new token in its next run.
// Within a run, and while answers are shared, each question is asked once.
func TestRunsForget(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(oneOfEach, "-- registry/acme/net/aws/1.1.0/main.tf --\n", "")
	world := modtest.NewWith(t, modtest.Txtar(strings.ReplaceAll(text, "PLATFORM", addrs.CurrentPlatform().String())), modtest.Options{Token: "new", Archives: true})
	tokens := &rotating{token: "old"}
	in := installer.New(installer.Options{HTTPClient: world.HTTPClient(), Credentials: tokens, CacheDir: t.TempDir(), StateDir: t.TempDir(), UserAgent: "daemon"})
	dir := writeProject(t, map[string]string{"main.tf": strings.ReplaceAll(oneOfEachConfig, "~> 1.0", ">= 1.0")}, string(world.Host()))
	req := request{Project: installer.Project{Dir: dir}, InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}, Scope: installer.ScopeAll}}
	if _, err := in.Install(t.Context(), req.Project, req.InstallOptions); err == nil {
		t.Fatal("the first run has no valid token, and did not fail")
	}
	tokens.set("new")
	run := func(in *installer.Installer, want string) {
		t.Helper()
		result := mustInstall(t, in, req.Project, req.InstallOptions)
		if got := fmt.Sprint(result.Modules[0].Version, " ", result.Providers[0].Version); got != want {
			t.Errorf("the run has selected %s, want %s", got, want)
		}
	}
	run(in, "1.0.0 1.0.0")
	shared, done, err := installerinternal.Share(in)
	testenv.Must(t, err)
	run(shared, "1.0.0 1.0.0")
	testenv.Must(t, world.PublishVersion("acme/net/aws", "1.1.0", modtest.Txtar("-- main.tf --\n")))
	testenv.Must(t, world.PublishProvider("acme/cloud", "1.1.0", addrs.CurrentPlatform().String(), modtest.Txtar("-- terraform-provider-cloud --\nbinary\n")))
	run(shared, "1.0.0 1.0.0")
	done()
	run(in, "1.1.0 1.1.0")
}
