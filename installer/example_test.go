package installer_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/registryclient"
)

// In this example, servers in this process replace the registry, so that the example runs
// anywhere. The zero Installer uses the real registries.
func Example() {
	world, err := modtest.Start(modtest.Txtar(`
-- config/main.tf --
module "network" {
  source  = "registry.example.com/acme/network/aws"
  version = "~> 1.2"
}
-- registry/acme/network/aws/1.2.3/main.tf --
module "tags" {
  source = "./modules/tags"
}
-- registry/acme/network/aws/1.2.3/modules/tags/main.tf --
output "tags" {
  value = {}
}
-- registry/acme/network/aws/2.0.0/main.tf --
`), modtest.Options{Archives: true})
	if err != nil {
		log.Fatal(err)
	}
	defer world.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := world.WriteTree(dir, "config"); err != nil {
		log.Fatal(err)
	}

	client := world.HTTPClient()
	in := installer.New(installer.Options{
		Registry: &registryclient.Client{Services: &disco.Client{HTTPClient: client}, HTTPClient: client},
		Fetcher:  &getmodules.Fetcher{HTTPClient: client},
		OnEvent: func(ev installer.Event) {
			if e, ok := ev.(event.LockFileWritten); ok {
				fmt.Println("wrote", e.File)
			}
		},
	})
	result, err := in.Install(context.Background(), installer.Project{Dir: dir}, installer.InstallOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range result.Modules {
		fmt.Println(m.Path, m.Version, m.Dir)
	}
	// Output:
	// wrote .terraform.lock.hcl
	// network 1.2.3 .terraform/modules/network
	// network.tags  .terraform/modules/network/modules/tags
}

// Verify compares the installed files with the lock and sends no requests.
func ExampleInstaller_Verify() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	lock := `module "network" {
  source = "git::https://git.example.com/network.git?ref=v1.0.0"
  hashes = ["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
}
`
	if err := os.WriteFile(dir+"/.terraform.lock.hcl", []byte(lock), 0o644); err != nil {
		log.Fatal(err)
	}
	var in installer.Installer
	report, err := in.Verify(context.Background(), installer.Project{Dir: dir}, installer.VerifyOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range report.Packages {
		fmt.Println(p.Path, p.Status)
	}
	// Output:
	// network missing
}

// If several modules fail, their errors are joined. ModuleErrors returns each of them.
func ExampleModuleErrors() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	const config = `module "network" {
  source = "git::https://git.example.com/network.git?ref=v1.2.0"
}
module "tags" {
  source = "acme/tags/aws"
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o600); err != nil {
		log.Fatal(err)
	}

	var in installer.Installer
	result, err := in.Load(context.Background(), installer.Project{Dir: dir}, installer.LoadOptions{})
	for failed := range installer.ModuleErrors(err) {
		fmt.Printf("%s:%d: %s: %v\n", failed.Range.Filename, failed.Range.Start.Line, failed.Path, errors.Is(failed, installer.ErrNotInstalled))
	}
	for m := range result.All() { // the root module was read nevertheless
		fmt.Printf("%q in %s\n", m.Path, m.Dir)
	}
	// Output:
	// main.tf:2: network: true
	// main.tf:5: tags: true
	// "" in .
}

// Fetch gets one module and its hash without a project.
func ExampleInstaller_Fetch() {
	world, err := modtest.Start(modtest.Txtar(`
-- registry/acme/network/aws/1.2.3/main.tf --
-- registry/acme/network/aws/1.2.3/modules/tags/main.tf --
-- registry/acme/network/aws/2.0.0/main.tf --
`), modtest.Options{Archives: true})
	if err != nil {
		log.Fatal(err)
	}
	defer world.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	in := world.Installer()
	call := config.Call{Source: world.Source("acme/network/aws") + "//modules/tags", Version: new("~> 1.0")}
	m, err := in.Fetch(context.Background(), installer.Project{}, call, filepath.Join(dir, "network"))
	if err != nil {
		log.Fatal(err)
	}
	below, err := filepath.Rel(dir, m.Dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filepath.ToSlash(below), m.Version)
	fmt.Println(m.Hashes[0])
	// Output:
	// network/modules/tags 1.2.3
	// h1:PI5tPVFTFyhF+w7l1edXCUh5l+WlSMMW7tbbgYrmH/g=
}
