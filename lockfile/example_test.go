package lockfile_test

import (
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

func Example() {
	src := `# This file is maintained automatically by "tofu init".

provider "registry.opentofu.org/hashicorp/null" {
  version="3.2.1"   # not as tofu writes it, and left alone
}
`
	file, err := lockfile.Parse([]byte(src), ".terraform.lock.hcl")
	if err != nil {
		fmt.Println(err)
		return
	}
	source, err := addrs.ParseModuleSource("terraform-aws-modules/vpc/aws")
	if err != nil {
		fmt.Println(err)
		return
	}
	file.SetModule(lockfile.Module{
		Key:         "vpc",
		Version:     versions.MustParse("3.19.0"),
		Source:      source,
		Constraints: versions.MustParseConstraints("~> 3.0"),
		Hashes:      []hashing.Hash{"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
	})
	if err := file.Check(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", file.Bytes())
	// Output:
	// # This file is maintained automatically by "tofu init".
	//
	// module "vpc" {
	//   version = "3.19.0"
	//   source  = "registry.opentofu.org/terraform-aws-modules/vpc/aws"
	//
	//   constraints = "~> 3.0"
	//
	//   hashes = [
	//     "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
	//   ]
	// }
	//
	// provider "registry.opentofu.org/hashicorp/null" {
	//   version="3.2.1"   # not as tofu writes it, and left alone
	// }
}
