package installer_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

// With Providers, Install also installs the providers that the modules of a configuration require,
// or only them. Here they come from a registry in this process.
func ExampleInstaller_Install_providers() {
	world, err := modtest.Start(modtest.Txtar(strings.ReplaceAll(`
-- config/main.tf --
terraform {
  required_providers {
    cloud = {
      source  = "registry.example.com/acme/cloud"
      version = "~> 1.0"
    }
  }
}
-- providers/acme/cloud/1.2.0/PLATFORM/terraform-provider-cloud --
the program
-- providers/acme/cloud/2.0.0/PLATFORM/terraform-provider-cloud --
the next one
`, "PLATFORM", addrs.CurrentPlatform().String())), modtest.Options{})
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

	result, err := world.Installer().Install(context.Background(), installer.Project{Dir: dir}, installer.InstallOptions{Scope: installer.ScopeProviders})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range result.Providers {
		fmt.Println(p.Address, p.Version)
		for _, use := range p.RequiredBy {
			fmt.Println("  required by", use)
		}
	}
	// Output:
	// registry.example.com/acme/cloud 1.2.0
	//   required by the root module (main.tf:3): ~> 1.0
}

func ExampleResult_All() {
	result := &installer.Result{Modules: []installer.Module{{Path: addrs.Module{"network"}, Dir: "network"}}}
	result.Root.Dir = "."
	for m := range result.All() {
		fmt.Printf("%q in %s\n", m.Path, m.Dir)
	}
	// Output:
	// "" in .
	// "network" in network
}
