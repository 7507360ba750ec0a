// Package library_test contains the Go code in docs/library.md and the README. In the pages, the
// code between "// sample: NAME" and "// end" follows a comment with that name. TestPages
// compares them.
package library_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/conformance"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gcs"
	"github.com/cotterpin/cotter/getmodules/hg"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/ocistore"
	"github.com/cotterpin/cotter/repository"
)

func installTree(ctx context.Context, cacheDir, stateDir string) error {
	// sample: install
	in := cotter.Installer{CacheDir: cacheDir, StateDir: stateDir} // the zero value works too, but keeps nothing between runs
	result, err := in.Install(ctx, cotter.Request{Dir: "infra"})
	if err != nil {
		return err // one or more *cotter.ModuleError, with the file and line of each call
	}
	for _, m := range result.Modules {
		fmt.Println(m.Path, m.Source, m.Version, m.Dir)
	}
	// end
	return nil
}

func explain(err error) {
	// sample: errors
	for failed := range cotter.ModuleErrors(err) {
		var changed *cotter.HashMismatchError
		if errors.As(failed, &changed) {
			log.Printf("module %s has other files than the lock: %v", failed.Path, changed.Changes)
			continue
		}
		log.Printf("%s: module %s: %v", failed.Range, failed.Path, failed.Err)
	}
	for failed := range cotter.ProviderErrors(err) {
		log.Printf("provider %s: %v", failed.Provider, failed.Err)
	}
	// end
}

func providers(ctx context.Context, in *cotter.Installer) error {
	// sample: providers
	result, err := in.Install(ctx, cotter.Request{Dir: "infra", Providers: &cotter.Providers{}})
	if err != nil {
		return err
	}
	for _, p := range result.Providers {
		fmt.Println(p.Address, p.Version)
	}
	// end
	return nil
}

func several(ctx context.Context, in *cotter.Installer) error {
	// sample: several
	dirs, err := repository.Roots(ctx, in, ".", cotter.DialectAuto)
	if err != nil {
		return err
	}
	results, err := in.InstallAll(ctx, dirs, cotter.Request{Locked: true}, nil)
	for i, result := range results {
		if result != nil { // nil if that root module failed; err has a *cotter.ProjectError for it
			fmt.Println(dirs[i], len(result.Modules))
		}
	}
	// end
	return err
}

func lockEntries(dir string) error {
	// sample: lock
	name := filepath.Join(dir, ".terraform.lock.hcl")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	lock, diags := lockfile.Parse(text, name)
	if diags.HasErrors() {
		return diags
	}
	for _, m := range lock.Modules() {
		fmt.Println(m.Key, m.Version, m.Source, m.Hashes)
	}
	// end
	return nil
}

func verify(ctx context.Context, dir string) error {
	// sample: verify
	var in cotter.Installer
	report, err := in.Verify(ctx, cotter.Request{Dir: dir})
	if err != nil {
		return err // there is no lock, or it cannot be read
	}
	for _, p := range report.Packages {
		if p.Status != cotter.StatusVerified {
			fmt.Println(p.Path, p.Status, p.Changes)
		}
	}
	if !report.OK() {
		return errors.New("the project does not match its lock")
	}
	// end
	return nil
}

func userCredentials(ctx context.Context, client *http.Client) (*cotter.Installer, error) {
	// sample: credentials
	env := cliconfig.OSEnvironment()
	config, err := env.Load(ctx, cliconfig.Options{})
	if err != nil {
		return nil, err
	}
	in := cotter.New(cotter.Options{
		HTTPClient:  client,
		Credentials: config,          // registries, archives and OCI registries; git finds its own
		Services:    config.Services, // "host" blocks
		Attempts:    config.Attempts,
		CacheDir:    env.CacheDir(),
		StateDir:    env.StateDir(),
	})
	// end
	// sample: mirrors
	registries := in.Providers
	source, err := config.ProviderSource(ctx, cliconfig.ProviderSourceOptions{
		Direct:     func(int) getproviders.Source { return registries },
		HTTPClient: client,
	})
	if err != nil {
		return nil, err
	}
	in.Providers = source
	// end
	return in, nil
}

func gitToken(client *http.Client, token string) *cotter.Installer {
	// sample: git token
	fetcher := &getmodules.Fetcher{
		GitCredentials: func(_ context.Context, at *url.URL) (*url.Userinfo, error) {
			if at.Host != "github.com" {
				return nil, nil // use the credential helpers of git
			}
			return url.UserPassword("x-access-token", token), nil
		},
	}
	in := cotter.New(cotter.Options{HTTPClient: client, Fetcher: fetcher})
	// end
	return in
}

// ownRegistries and ownGit stand for the clients of a program.
type (
	ownRegistries struct{}
	ownGit        struct{ getmodules.GitGetter }
)

func (ownRegistries) OpenOCI(context.Context, string, string) (ocistore.Repository, error) {
	return nil, errors.ErrUnsupported
}

func replaced(client *http.Client) *cotter.Installer {
	// sample: replace
	fetcher := &getmodules.Fetcher{
		OCI: ownRegistries{}, // an ocistore.Opener: oci:// sources come from your own client
		Getters: map[string]getmodules.Getter{
			"git":  ownGit{}, // a getmodules.GitGetter
			"file": nil,      // addresses of local directories and archives are refused
		},
	}
	in := cotter.New(cotter.Options{HTTPClient: client, Fetcher: fetcher})
	// end
	return in
}

func clouds(client *http.Client) *cotter.Installer {
	// sample: getters
	fetcher := &getmodules.Fetcher{
		Getters: map[string]getmodules.Getter{
			"s3":  &s3.Getter{HTTPClient: client},
			"gcs": &gcs.Getter{HTTPClient: client},
			"hg":  hg.Getter{},
		},
	}
	in := cotter.New(cotter.Options{HTTPClient: client, Fetcher: fetcher})
	// end
	return in
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

func dryRun(ctx context.Context, in *cotter.Installer) error {
	// sample: dry run
	result, err := in.Install(ctx, cotter.Request{Dir: "infra", DryRun: true, Update: cotter.Update{All: true}})
	if err != nil {
		return err
	}
	for _, change := range result.LockChanges {
		fmt.Printf("%s: %s -> %s\n", change.Path, change.Old.Version, change.New.Version)
	}
	// end
	return nil
}

// sample: wrapped fetcher
type counting struct {
	cotter.Fetcher
	count *atomic.Int64
}

func (c counting) Fetch(ctx context.Context, req getmodules.Request) (*getmodules.Package, error) {
	c.count.Add(1)
	return c.Fetcher.Fetch(ctx, req)
}

// end

// sample: faults
func TestRegistryFails(t *testing.T) {
	world := modtest.New(t, modtest.TxtarFile(t, "testdata/world.txtar"))
	dir := world.Dir(t, "config")
	world.SetFaults(modtest.Fault{Path: "/v1/modules/acme/net", Status: http.StatusForbidden})
	_, err := world.Installer().Install(t.Context(), cotter.Request{Dir: dir})
	var call *cotter.ModuleError
	if !errors.As(err, &call) || call.Path.String() != "net" {
		t.Errorf("the error is %v", err)
	}
}

func TestTagMoved(t *testing.T) {
	world := modtest.New(t, modtest.TxtarFile(t, "testdata/world.txtar"))
	dir := world.Dir(t, "config")
	if _, err := world.Installer().Install(t.Context(), cotter.Request{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if err := world.MoveTag("dns.git", "v1.0.0", modtest.Txtar("-- main.tf --\n# other\n")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".terraform")); err != nil {
		t.Fatal(err)
	}
	_, err := world.Installer().Install(t.Context(), cotter.Request{Dir: dir, Locked: true})
	var moved *cotter.ContentChangedError
	if !errors.As(err, &moved) || moved.Path.String() != "dns" {
		t.Errorf("the error is %v", err)
	}
}

// end
