package addrs_test

import (
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/addrs"
)

func ExampleParseModuleSource() {
	for _, raw := range []string{
		"./network",
		"acme/net/aws//modules/vpc",
		"github.com/acme/net//modules/vpc?ref=v1.2.0",
		"modules/network",
	} {
		src, err := addrs.ParseModuleSource(raw)
		var parseError *addrs.ParseError
		if errors.As(err, &parseError) {
			fmt.Println("error, maybe a local path:", parseError.MaybeLocal)
			continue
		}
		switch src := src.(type) {
		case addrs.ModuleSourceLocal:
			fmt.Println("local", src)
		case addrs.ModuleSourceRegistry:
			fmt.Println("registry", src.Package, "subdir", src.Subdir)
		case addrs.ModuleSourceRemote:
			fmt.Println("remote", src.Package, "subdir", src.Subdir)
		}
	}
	// Output:
	// local ./network
	// registry registry.opentofu.org/acme/net/aws subdir modules/vpc
	// remote git::https://github.com/acme/net.git?ref=v1.2.0 subdir modules/vpc
	// error, maybe a local path: true
}

func ExampleParser() {
	parser := addrs.Parser{DefaultRegistryHost: addrs.TerraformRegistryHost}
	src, err := parser.ParseModuleSource("acme/net/aws")
	fmt.Println(src, err)
	// Output: registry.terraform.io/acme/net/aws <nil>
}

func ExampleModuleSourceRegistry_Located() {
	src, _ := addrs.ParseModuleSourceRegistry("acme/net/aws//modules/vpc")
	answer, _ := addrs.ParseModuleSource("https://example.com/net.tar.gz//net-1.2.0?archive=tar.gz")
	at, err := src.Located(answer.(addrs.ModuleSourceRemote))
	fmt.Println(at, err)
	// Output: https://example.com/net.tar.gz//net-1.2.0/modules/vpc?archive=tar.gz <nil>
}

func ExampleRedact() {
	fmt.Println(addrs.Redact("git::https://user:token@example.com/net.git?ref=v1&sshkey=QUJD"))
	// Output: git::https://example.com/net.git?ref=v1&sshkey=REDACTED
}
