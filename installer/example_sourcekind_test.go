package installer_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
)

// artifacts is a kind of source with versions: artifacts::https://HOST/NAME. Each version has a build number, which is its
// revision. A real one would ask the server at from.Location.
type artifacts struct{}

func (artifacts) Get(_ context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	if from.List {
		return getmodules.Downloaded{Tags: []getmodules.Tag{{Name: "1.4.0", Revision: "812"}, {Name: "1.5.2", Revision: "903"}, {Name: "2.0.0", Revision: "911"}}}, nil
	}
	if err := os.Mkdir(from.Path, 0o700); err != nil {
		return getmodules.Downloaded{}, err
	}
	text := fmt.Sprintf("# build %s\n", from.Revision)
	return getmodules.Downloaded{Revision: from.Revision}, os.WriteFile(filepath.Join(from.Path, "main.tf"), []byte(text), 0o600)
}

// A program adds a kind of source whose versions are selected and locked.
func ExampleNew_sourceKind() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	call := `module "network" {
  source  = "artifacts::https://artifacts.example.com/network"
  version = "~> 1.4"
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(call), 0o600); err != nil {
		log.Fatal(err)
	}
	fetcher := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"artifacts": artifacts{}}}
	result, err := installer.New(installer.Options{Fetcher: fetcher}).Install(context.Background(), installer.Project{Dir: dir}, installer.InstallOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, change := range result.LockChanges {
		fmt.Println(change.New.Version, change.New.Constraints, change.New.Package)
	}
	// Output: 1.5.2 ~> 1.4 artifacts::https://artifacts.example.com/network?rev=903
}
