package getproviders_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/versions"
)

// The registry proves a package before its archive is used.
func ExampleDirect() {
	// In this example, a registry on this machine replaces registry.opentofu.org.
	world, err := modtest.Start(modtest.Txtar(packages), modtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer world.Close()
	var source getproviders.Source = direct(world)

	ctx := context.Background()
	provider := addrs.Provider{Hostname: world.Host(), Namespace: "acme", Type: "cloud"}
	pkg, err := source.Package(ctx, provider, versions.MustParse("1.0.0"), addrs.Platform{OS: "linux", Arch: "amd64"})
	if err != nil {
		log.Fatal(err)
	}
	auth, err := pkg.Authenticate(ctx)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file, err := os.Create(filepath.Join(dir, "archive.zip"))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	if err := pkg.Download(ctx, file, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println("confirmed by:", auth.Evidence.Kind)
	fmt.Println("hashes for the lock, besides its own h1:", len(auth.Hashes))
	// Output:
	// confirmed by: signature
	// hashes for the lock, besides its own h1: 2
}
