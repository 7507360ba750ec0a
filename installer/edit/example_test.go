package edit_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/edit"
)

// This program raises the constraint of a module call.
func ExampleFiles() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	conf := "module \"vpc\" {\n  source  = \"terraform-aws-modules/vpc/aws\"\n  version = \"~> 3.0\" # the newest that we have tried\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(conf), 0o600); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	reader, err := installer.DefaultConfigReader(installer.Project{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	module, diags := reader.ReadModule(ctx, config.Dir{Dir: dir, Display: "."})
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	call := module.Calls[0]
	files, err := edit.Files(ctx, dir, edit.Changes{Constraints: []edit.Constraint{{Range: call.VersionRange, Old: *call.Version, New: "~> 5.0"}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Printf("%s:\n%s", f.Name, f.New)
	}
	// Output:
	// main.tf:
	// module "vpc" {
	//   source  = "terraform-aws-modules/vpc/aws"
	//   version = "~> 5.0" # the newest that we have tried
	// }
}
