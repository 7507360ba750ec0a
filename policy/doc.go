// Package policy reads the file cotter.hcl of a project and the user's own settings, and checks module calls
// and providers against the rules of an organization. docs/policy.md describes the rules. The package finds no
// files and sends no requests. The file can have four types of blocks, and each is read on its own:
//
//   - A "policy" block has the rules: where modules and providers may come from, how they must be pinned, and
//     how old a release must be. [Parse] reads it, and [Policy] has a field for each rule. A user can name
//     further files; all must allow what is done, unless one has policy_only.
//   - A "settings" block has options of the project, and "mirror" blocks name repositories of OCI registries
//     that have locked packages. [ParseSettings] reads both.
//   - "replace" blocks replace the sources of modules. [ParseReplacements] reads them.
//
// A source is compared as HOST/PATH, for all transports. A module of a registry is HOST/NAMESPACE/NAME/SYSTEM,
// git::ssh://git@github.com/acme/net.git is github.com/acme/net, and a package on this machine is its absolute
// path. Users, queries, subdirectories and a final ".git" are ignored. A [Pattern] matches everything at and
// below it. Its host is a name, an address, "*.NAME" for all names below a name, or "*"; in its path, "*"
// matches any text within one element. Hosts are compared in one spelling, paths by element and decoded, and a
// bucket of Amazon S3 or Google Cloud Storage is one place under all its addresses. Deny takes precedence over
// allow, and also matches what some servers read in an address: it ignores case and port, separates elements at
// escaped slashes, and ignores spaces, a parameter (";") and ".git" at the end of an element.
//
// Every location of a module must be allowed: the source of the call, the location that a registry or a page
// points to, submodules, and the addresses in the lock. Redirects, and other URLs in a server's answer, must
// not be denied, but need not be allowed; see [Policy.CheckURL]. The project's own modules are not subject to
// the policy, but their calls are.
//
// Unknown arguments, and expressions with variables or functions, are errors.
package policy
