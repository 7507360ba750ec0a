// Package policy says which module calls an organisation allows: where modules
// may come from, how they must be pinned, and how old a release must be.
//
// # The file
//
// A policy is a "policy" block, usually in a file cotter.hcl beside the
// configuration. Every argument is optional; one that is not known is an error,
// and so is an expression with variables or functions.
//
//	policy {
//	  allow_sources = ["registry.opentofu.org/terraform-aws-modules", "github.com/acme", "*.corp.example"]
//	  deny_sources  = ["github.com/acme/attic"]
//	  branches      = "deny"
//	  versions      = "range"
//	  credentials   = "deny"
//	  min_age_days  = 14
//	}
//
// # Sources
//
// A source is compared as HOST/PATH, whatever its transport: a module of a
// registry is HOST/NAMESPACE/NAME/SYSTEM, git::ssh://git@github.com/acme/net.git
// is github.com/acme/net, a package on this machine is its absolute path. Users,
// queries, subdirectories and a ".git" at the end do not count. A pattern allows
// or denies everything at and below it. Its host is a name, "*.NAME" for all
// names below one, or "*"; in its path "*" stands for anything within one
// element.
//
// With allow_sources nothing else is allowed. What deny_sources has is denied
// even so, in upper or lower case and at every port; a host of allow_sources
// without a port means the transport's usual one.
//
// Every place that a module comes from has to be allowed: the source of the
// call, the location that a registry or a page points to, submodules, and what
// the lock has. Redirects within HTTP are up to the server. Modules of the
// project itself ("./app") are not subject to the policy, but what they call is.
//
// # Other rules
//
// branches = "deny" refuses git sources that name a branch, or nothing, which
// means a branch; and hg sources that name no revision.
//
// versions is about the calls in the project's own modules, as others cannot be
// changed there: "range" wants a version constraint, a tag, a commit or a
// digest, "exact" wants the constraint to name one version. Archives have no
// versions and pass.
//
// credentials = "deny" refuses source addresses that hold passwords or tokens.
//
// min_age_days makes a selection of a version pass over those that are younger,
// where the origin tells their age: registries of OpenTofu's kind do. Dates of
// commits do not count, because the author of a commit sets them.
//
// # Not done here
//
// The package judges; it asks no server and knows no lock. Package cotter says
// what is to be judged, before anything is fetched. Signatures are not looked at.
package policy
