// Package lockfile reads and writes the module and provider blocks of a dependency lock
// file, .terraform.lock.hcl, and preserves all other content.
//
// # Format
//
// Each provider has one provider block, in the format of stock tools:
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
// Each module call has one module block, unless its module is in the same package as the
// call:
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
// The label is the dotted path of module calls. source and hashes are required; the other
// attributes are optional, see [Module]. The format is that of the OpenTofu RFC "Module
// Version Locking" of December 2025, with the package attribute added. Released versions of
// OpenTofu and Terraform accept module blocks with one label and any body, and delete them
// when they rewrite the file.
//
// # Reading
//
//   - Values are literals: quoted strings without templates, and one list of such strings.
//     Nothing is ever evaluated.
//   - These are errors in a module block: a duplicate key, a duplicate attribute, any
//     number of labels other than one, a version, constraint or hash that does not parse,
//     two hashes of the same scheme, no hash of a scheme that covers a whole tree (h1 or
//     t1), and a password in an address.
//   - Git conflict markers outside of strings and comments are an error, whose diagnostic
//     has a [MergeConflict] as its Extra.
//   - A file that is larger than [MaxSize] bytes, has more than 3,000,000 tokens, or has
//     brackets more than 200 levels deep is refused before it is parsed. So is a single block
//     of more than 250,000 tokens. A file with more than 1,000 errors is not read to its
//     end, and is refused even if all of them are in provider blocks.
//   - CRLF, a byte order mark and a missing final newline are accepted. Unknown attributes
//     and blocks are ignored and preserved.
//   - A source in the RFC's form "HOST/modules/NAMESPACE/NAME/SYSTEM" is read without
//     "modules/".
//   - A provider block with an error does not prevent the file from being read, because
//     modules do not depend on it. Errors are what stock tools refuse: an address that is
//     invalid or not written in full, a version or constraints that are not canonical, an
//     empty list of hashes, a hash without a scheme, any other argument or block, and a
//     second block for the same address. Expressions are errors too. The block is preserved
//     but is not returned as a provider; [File.ProviderFaults] returns the error.
//     [File.StockFaults] returns everything that a stock tool refuses in the file, so also
//     unknown blocks. Hashes may repeat and be in any order, their schemes may be unknown
//     and their values malformed or empty; such hashes match no package.
//   - Blocks of a later draft, with a source address as their label, are preserved. They
//     are not returned as modules; [File.ForeignKeys] lists them.
//
// # Writing
//
//   - Bytes outside of the blocks never change, except for blank lines next to an added or
//     removed block, and a missing final newline.
//   - An unchanged block keeps its bytes in any layout. A changed block is written in the
//     layout above. Its unknown attributes and nested blocks follow the known ones,
//     together with the comments directly above them; other comments in the block are
//     lost.
//   - Module blocks are sorted by key. They precede the first provider block and the
//     comment directly above it. If a file has them in another order, the first change to
//     a module moves them.
//   - A new provider block is inserted in the order of [addrs.Provider.Compare], as in
//     stock tools.
//   - [File.SetProviders] writes provider blocks if and only if the init of stock tools
//     would. It then sorts the blocks together with the comments above them, writes all of
//     them as stock tools do, and adds a header if the file does not begin with a comment.
//   - Written lines end as the first line of the file does: in LF or CRLF. A new file has LF.
//   - A file that was empty gets a header comment. If it has only provider blocks, this is
//     the header of the stock tool that was passed to [File.NameTool]. A header of Cotter or
//     of a stock tool that names only the other tool is replaced in a file that changes.
//   - An address with credentials is never written, see [File.Check].
package lockfile
