// Package policy checks module calls against the rules of an organisation: where
// modules may come from, how they must be pinned, and how old a release must be.
//
// # The file
//
// A policy is a "policy" block, usually in a file cotter.hcl next to the
// configuration. Every argument is optional. Unknown arguments, and expressions with
// variables or functions, are errors. The file may have a "settings" block and "mirror" blocks as
// well, which package settings reads.
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
// queries, subdirectories and a final ".git" are ignored. A pattern matches
// everything at and below it. Its host is a name, "*.NAME" for all names below one,
// or "*"; in its path "*" matches anything within one element.
//
// If allow_sources is set, all other sources are denied. deny_sources takes
// precedence, and ignores case and port; a host in allow_sources without a port
// means the usual port of the transport.
//
// Every location of a module must be allowed: the source of the call, the location
// to which a registry or a page points, submodules, and the addresses in the lock.
// HTTP redirects are not checked. The project's own modules ("./app") are not
// subject to the policy, but their calls are.
//
// # Other rules
//
// branches = "deny" refuses git sources that name a branch or no ref, which means the
// default branch, and hg sources that name no revision.
//
// versions applies to the calls in the project's own modules, because other calls
// cannot be changed there. "range" requires a version constraint, a tag, a commit or
// a digest; "exact" also requires that a constraint names one version. Archives have
// no versions and are allowed.
//
// credentials = "deny" refuses source addresses that contain passwords or tokens.
//
// min_age_days excludes younger versions from selection if the origin lists their
// age, as OpenTofu's registry does. Dates of commits are not used, because the author
// of a commit sets them.
//
// # Providers
//
// allow_providers and deny_providers are lists of patterns for the addresses of
// providers, HOST/NAMESPACE/TYPE, with the rules of allow_sources and deny_sources:
// "registry.opentofu.org/hashicorp" and "*.corp.example" for example. min_age_days
// does not apply, because registries do not list the age of providers.
//
// weak_provider_signatures = "allow" accepts signatures of packages by keys and
// digests that are no longer secure: RSA keys of less than 2,048 bits, DSA keys and
// SHA-1. Without it, or with "deny", they are refused. In the cotter.hcl of a repository
// "allow" does not count; see [Policy.OfRepository].
//
// # Not done here
//
// The package sends no requests and does not read the lock. Package cotter calls it
// before anything is fetched. Signatures are checked by package getproviders.
package policy
