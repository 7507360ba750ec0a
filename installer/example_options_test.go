package installer_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gcs"
	"github.com/cotterpin/cotter/getmodules/hg"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer"
)

// An installer with the user's credentials, hosts and provider mirrors, as tofu and terraform are
// configured.
func ExampleNew() {
	ctx := context.Background()
	env := cliconfig.OSEnvironment()
	config, err := env.Load(ctx, cliconfig.Options{})
	if err != nil {
		log.Fatal(err)
	}
	o := installer.Options{
		Credentials: config,          // registries, archives and OCI registries; git finds its own
		Services:    config.Services, // "host" blocks
		Attempts:    config.Attempts,
		CacheDir:    env.CacheDir(),
		StateDir:    env.StateDir(),
	}
	// Mirrors with relative paths belong to a project: see ProviderSourceOptions.
	registries := installer.New(o).Options().Providers
	o.Providers, err = config.ProviderSource(ctx, cliconfig.ProviderSourceOptions{
		Direct:     func(int) getproviders.Source { return registries },
		HTTPClient: http.DefaultClient,
	})
	if err != nil {
		log.Fatal(err)
	}
	_ = installer.New(o)
}

// S3, Google Cloud Storage and Mercurial are packages of their own, to keep dependencies small. A
// token for git is sent only to the host of the source address.
func ExampleNew_fetcher() {
	fetcher := &getmodules.Fetcher{
		Getters: map[string]getmodules.Getter{
			"s3":   &s3.Getter{},
			"gcs":  &gcs.Getter{},
			"hg":   hg.Getter{},
			"file": nil, // addresses of directories and archives on this machine are refused
		},
		GitCredentials: func(_ context.Context, at *url.URL) (*url.Userinfo, error) {
			if at.Host != "github.com" {
				return nil, nil // use the credential helpers of git
			}
			return url.UserPassword("x-access-token", "token"), nil
		},
	}
	installer.New(installer.Options{Fetcher: fetcher})
}

// counting is a fetcher that counts packages. Embedding the fetcher keeps its other methods.
type counting struct {
	installer.Fetcher
	count *atomic.Int64
}

func (c counting) Fetch(ctx context.Context, req getmodules.Request) (*getmodules.Package, error) {
	c.count.Add(1)
	return c.Fetcher.Fetch(ctx, req)
}

// A wrapper counts the packages that are fetched.
func ExampleFetcher() {
	var count atomic.Int64
	o := installer.New(installer.Options{}).Options()
	o.Fetcher = counting{o.Fetcher, &count}
	_ = installer.New(o)
}

// Several root modules are installed, and each package is fetched once.
func ExampleInstaller_InstallAll() {
	projects := []installer.Project{{Dir: "envs/dev"}, {Dir: "envs/prod"}}
	results, err := installer.New(installer.Options{}).InstallAll(context.Background(), projects, installer.InstallOptions{Locked: true})
	for i, result := range results {
		if result != nil { // nil if that root module failed; err has a *installer.ProjectError for it
			fmt.Println(projects[i].Dir, len(result.Modules))
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

// The result of a dry run has what an update would change.
func ExampleInstaller_Install_dryRun() {
	in := installer.New(installer.Options{})
	result, err := in.Install(context.Background(), installer.Project{Dir: "infra"}, installer.InstallOptions{DryRun: true, Update: installer.Update{All: true}})
	if err != nil {
		log.Fatal(err)
	}
	for _, change := range result.LockChanges {
		fmt.Printf("%s: %s -> %s\n", change.Path, change.Old.Version, change.New.Version)
	}
}
