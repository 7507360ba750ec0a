// Package lockfile reads and writes the module and provider blocks of a dependency
// lock file, .terraform.lock.hcl, and preserves all other content.
//
// # Format
//
// There is one provider block for each provider, in the format of stock tools:
//
//	provider "registry.opentofu.org/hashicorp/null" {
//	  version     = "3.2.1"
//	  constraints = "~> 3.0"
//	  hashes = [
//	    "h1:...",
//	    "zh:...",
//	  ]
//	}
//
// There is one module block for each module call whose package is not the package
// that contains the call:
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
// The label is the dotted path of module calls. source and hashes are required;
// the other attributes are optional, see [Module]. The format is that of the
// OpenTofu RFC "Module Version Locking" of December 2025 with the package
// attribute added. Released versions of OpenTofu and Terraform accept module
// blocks with one label and any body, and delete them when they rewrite the file.
//
// # Reading
//
//   - Values are literals: quoted strings without templates, and one list of
//     such strings. Nothing is ever evaluated.
//   - Errors are: a duplicate key, a duplicate attribute, not exactly one label, a
//     version, constraint or hash that does not parse, two hashes of the same
//     scheme, no hash of a scheme that covers a whole tree (h1 or t1), a password
//     in an address, git conflict markers.
//   - A file of more than [MaxSize] bytes or nested deeper than [MaxNesting] is
//     refused before it is parsed.
//   - CRLF, a byte order mark and a missing final newline are accepted. Unknown
//     attributes and blocks are ignored and preserved.
//   - A source of the RFC's form "HOST/modules/NAMESPACE/NAME/SYSTEM" is read as
//     if it had no "modules/".
//   - A provider block with an error (an address that is not valid or not written in
//     full, a version that is not canonical, a hash or a value as above, a second
//     block for the same address) does not keep the file from being read, because
//     modules do not depend on it. It is preserved, it is not among the providers,
//     and [File.ProviderFaults] has the error. A hash of an unknown scheme is no
//     error, and is kept. Constraints are text, which nothing depends on.
//   - Blocks of a later draft, with a source address as label, are preserved. They
//     are not among the modules; [File.ForeignKeys] lists them.
//
// # Writing
//
//   - Bytes outside of the blocks never change, except for blank lines next to
//     an added or removed block, and a missing final newline.
//   - An unchanged block keeps its bytes in any layout. A changed block gets the
//     layout above. Its unknown attributes and nested blocks follow the known
//     ones, with the comments directly above them; other comments in it are lost.
//   - Module blocks are sorted by key and precede the first provider block and the
//     comment directly above it. If a file has them in another order, the first
//     change moves them.
//   - A new provider block is inserted in the order of [addrs.Provider.Compare], which
//     is that of stock tools. Existing provider blocks are never moved.
//   - Lines of written blocks end in LF.
//   - A file that was empty gets a header comment. If there are provider blocks only,
//     it is that of the stock tool that [File.NameTool] set.
//   - An address with credentials is never written, see [File.Check].
package lockfile
