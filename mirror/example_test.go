package mirror_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/modtest"
)

// A run takes the packages that one machine has pushed from the mirror, and queries no origin.
func Example() {
	world, err := modtest.Start(modtest.Txtar(`
-- config/main.tf --
module "network" {
  source  = "registry.example.com/acme/network/aws"
  version = "~> 1.2"
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
	if _, err := in.Install(ctx, installer.Project{Dir: dir}, installer.InstallOptions{LockOnly: true}); err != nil {
		log.Fatal(err)
	}

	to, err := mirror.Open(in.Options().Fetcher.(*getmodules.Fetcher), "oci://"+string(world.Host())+"/corp/modules")
	if err != nil {
		log.Fatal(err)
	}
	pushed, err := mirror.Push(ctx, in, []installer.Project{{Dir: dir}}, installer.LockedOptions{}, to)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("pushed:", pushed.Pushed)

	o := world.Installer().Options()
	o.Stores = []installer.PackageStore{to}
	elsewhere := installer.New(o)
	world.ResetRequests()
	if _, err := elsewhere.Install(ctx, installer.Project{Dir: dir}, installer.InstallOptions{Locked: true}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("requests:", len(world.Requests()))
	// Output:
	// pushed: 1
	// requests: 2
}
