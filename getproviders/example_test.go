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

// This directory has the providers of one namespace. A real program would add a method with
// [getproviders.Direct] for all other providers.
func ExampleMulti() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	archive := filepath.Join(dir, "example.com", "acme", "x", "terraform-provider-x_1.2.0_linux_amd64.zip")
	if err := os.MkdirAll(filepath.Dir(archive), 0o755); err != nil {
		fmt.Println(err)
		return
	}
	if err := os.WriteFile(archive, nil, 0o644); err != nil {
		fmt.Println(err)
		return
	}

	acme, err := getproviders.ParsePattern("example.com/acme/*", addrs.DefaultRegistryHost)
	if err != nil {
		fmt.Println(err)
		return
	}
	source := getproviders.Multi{
		{Source: getproviders.FilesystemMirror{Dir: dir}, Include: []getproviders.Pattern{acme}},
	}

	ctx := context.Background()
	provider, _ := addrs.ParseProviderSource("example.com/acme/x")
	listing, err := source.Versions(ctx, provider)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range listing.Versions {
		fmt.Println(v.Version, v.Platforms)
	}
	_, err = source.Package(ctx, provider, versions.MustParse("1.2.0"), addrs.Platform{OS: "darwin", Arch: "arm64"})
	fmt.Println(err != nil)
	other, _ := addrs.ParseProviderSource("hashicorp/null")
	_, err = source.Versions(ctx, other)
	fmt.Println(err)
	// Output:
	// 1.2.0 [linux_amd64]
	// true
	// provider registry.opentofu.org/hashicorp/null: no source is configured for it
}
