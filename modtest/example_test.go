package modtest_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

// In a test, call [modtest.New] instead of Start and Close.
func Example() {
	world, err := modtest.Start(modtest.Txtar(`
-- registry/acme/net/aws/1.2.0/main.tf --
output "id" { value = "net" }
-- registry/acme/net/aws/1.3.0/main.tf --
output "id" { value = "net" }
`), modtest.Options{Archives: true})
	if err != nil {
		log.Fatal(err)
	}
	defer world.Close()

	// The client connects to the world for every name directly below example.com.
	resp, err := world.HTTPClient().Get("https://registry.example.com/v1/modules/acme/net/aws/versions")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(body))
	fmt.Println(world.Requests())
	// Output:
	// {"modules":[{"source":"acme/net/aws","versions":[{"version":"1.2.0"},{"version":"1.3.0"}]}]}
	// [GET /v1/modules/acme/net/aws/versions]
}

// In a test, [World.Dir] creates the directory of the configuration.
func ExampleWorld_Installer() {
	world, err := modtest.Start(modtest.Txtar(`
-- config/main.tf --
module "net" {
  source  = "registry.example.com/acme/net/aws"
  version = "~> 1.2"
}
-- registry/acme/net/aws/1.3.0/main.tf --
-- registry/acme/net/aws/2.0.0/main.tf --
`), modtest.Options{Archives: true})
	if err != nil {
		log.Fatal(err)
	}
	defer world.Close()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := world.WriteTree(dir, "config"); err != nil {
		log.Fatal(err)
	}

	result, err := world.Installer().Install(context.Background(), installer.Project{Dir: dir}, installer.InstallOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Modules[0].Path, result.Modules[0].Version)
	// Output:
	// net 1.3.0
}
