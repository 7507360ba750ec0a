// Package lockfile reads and writes the module blocks of a dependency lock
// file, .terraform.lock.hcl, and leaves everything else in it alone.
//
// # Format
//
// There is one block for each module call with a package outside the
// one it is written in:
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
// The label is the dotted path of module calls. source and hashes are required,
// the rest may be absent, see [Module]. The format is that of the OpenTofu RFC
// "Module Version Locking" of December 2025 with the package attribute added.
// Released versions of OpenTofu and Terraform accept such blocks, with one
// label and whatever body, and delete them whenever they rewrite the file.
//
// # Reading
//
//   - Values are literals: quoted strings without templates, and one list of
//     such strings. Nothing is ever evaluated.
//   - Errors are: a key that occurs twice, an attribute that occurs twice, a
//     label too many or too few, a version, constraint or hash that does not parse,
//     two hashes of one scheme, no hash of a scheme that proves a whole tree
//     (h1 or t1), a password in an address, conflict markers of git.
//   - A file of more than [MaxSize] bytes or nested deeper than [MaxNesting] is
//     refused before it is parsed.
//   - CRLF, a byte order mark, a missing last newline are fine. Unknown
//     attributes and blocks are ignored and kept.
//   - A source of the RFC's form "HOST/modules/NAMESPACE/NAME/SYSTEM" is read as
//     the same without "modules/".
//   - Blocks of a later draft, with a source address as label, are kept. They
//     are not among the modules; [File.ForeignKeys] lists them.
//
// # Writing
//
//   - Bytes outside of module blocks never change, but for blank lines next to a
//     block that comes or goes, and a newline where the last one is missing.
//   - A block that is not changed keeps its bytes, whatever its layout. One that
//     is set anew gets the layout above; unknown attributes and nested blocks
//     move behind the known ones, with the comments directly above them. Other
//     comments within it are lost.
//   - Blocks are sorted by key and precede the first provider block, together
//     with the comment directly above that one. Where a file has them in
//     another order, the first change moves them.
//   - Line ends are LF, in the blocks that are written.
//   - A file that was empty gets a header comment.
//   - An address with credentials is never written, see [File.Check].
package lockfile
