package bundle_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/bundle"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

// A machine without a network installs packages that another machine has put into a bundle.
func Example() {
	world, err := modtest.Start(modtest.Txtar(`
-- config/main.tf --
module "network" {
  source  = "registry.example.com/acme/network/aws"
  version = "~> 1.2"
}
module "again" {
  source  = "registry.example.com/acme/network/aws"
  version = "1.2.3"
}
-- registry/acme/network/aws/1.2.3/main.tf --
# network
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
	ctx, in := context.Background(), world.Installer()
	if _, err := in.Install(ctx, installer.Project{Dir: dir}, installer.InstallOptions{}); err != nil {
		log.Fatal(err)
	}

	file, err := os.Create(filepath.Join(dir, "modules.tar"))
	if err != nil {
		log.Fatal(err)
	}
	written, err := bundle.Create(ctx, in, []installer.Project{{Dir: dir}}, installer.LockedOptions{}, file)
	if err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("packages:", written.Packages)

	opened, err := bundle.Open(file.Name())
	if err != nil {
		log.Fatal(err)
	}
	defer opened.Close()
	elsewhere := installer.New(installer.Options{Stores: []installer.PackageStore{opened}})
	result, err := elsewhere.Install(ctx, installer.Project{Dir: dir}, installer.InstallOptions{Locked: true, Offline: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range result.Modules {
		fmt.Println(m.Path, m.Version)
	}
	// Output:
	// packages: 1
	// again 1.2.3
	// network 1.2.3
}
