package getproviders_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/versions"
)

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
