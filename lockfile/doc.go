// Package lockfile reads and writes the module and provider blocks of a dependency lock file,
// .terraform.lock.hcl, and preserves all other content. Provider blocks have the format of stock tools. Each
// module call has one module block, unless its module is in the same package as the call:
//
//	module "app.network" {
//	  version = "3.19.0"
//	  source  = "registry.opentofu.org/terraform-aws-modules/vpc/aws"
//
//	  constraints = ">= 3.0.0, < 4.0.0"
//
//	  package = "git::https://example.com/vpc.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0"
//
//	  hashes = [
//	    "h1:...",
//	    "t1:...",
//	  ]
//	}
//
// The format is that of the OpenTofu RFC "Module Version Locking" of December 2025, with the package attribute
// added; docs/spec/lock-format.md has all rules. Values are literals, and nothing is evaluated. An error in a
// module block is an error of the file. One in a provider block is not, because modules do not depend on it:
// the block is preserved, and [File.ProviderFaults] and [File.StockFaults] return the errors. A file of more
// than [MaxSize] bytes, 3,000,000 tokens or 1,000 errors is refused.
//
// Bytes outside of the blocks never change, except for blank lines next to a block that is added or removed.
// An unchanged block keeps its bytes in any layout; in a changed one, only the values that change are written.
// [File.SetProviders] writes provider blocks if and only if the init of stock tools would. An
// address with credentials is never written, see [File.Check].
package lockfile
