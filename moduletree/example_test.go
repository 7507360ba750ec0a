package moduletree_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/moduletree"
)

func Example() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := writeProject(dir); err != nil {
		fmt.Println(err)
		return
	}
	tree, err := moduletree.Read(context.Background(), moduletree.Project{Dir: dir})
	if tree == nil {
		fmt.Println(err)
		return
	}
	for _, m := range tree.Modules {
		fmt.Printf("%s:%d: %s %s, wanted %q, in %s\n", m.Call.Range.Filename, m.Call.Range.Start.Line, m.Source, m.Version, m.Constraints, m.Dir)
	}
	for _, u := range tree.Unresolved {
		fmt.Println("not read:", u.Err)
	}
	// Output:
	// main.tf:1: registry.opentofu.org/terraform-aws-modules/vpc/aws 3.19.0, wanted "~> 3.0", in .terraform/modules/vpc
	// not read: module dns (main.tf:7): module not installed
}

// writeProject writes what tofu init leaves, and a call that was added later.
func writeProject(dir string) error {
	for name, text := range map[string]string{
		"main.tf": `module "vpc" {
  source  = "terraform-aws-modules/vpc/aws"
  version = "~> 3.0"
}

module "dns" {
  source = "git::https://git.example.com/dns.git"
}
`,
		".terraform/modules/modules.json": `{"Modules":[{"Key":"","Source":"","Dir":"."},
{"Key":"vpc","Source":"registry.opentofu.org/terraform-aws-modules/vpc/aws","Version":"3.19.0","Dir":".terraform/modules/vpc"}]}
`,
		".terraform/modules/vpc/main.tf": "",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
