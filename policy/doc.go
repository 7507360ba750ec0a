// Package policy checks module calls and providers against the rules of an organization.
// The rules say where modules may come from, how they must be pinned, and how old a release
// must be.
//
// # The file
//
// A policy is a "policy" block, usually in a file cotter.hcl next to the configuration.
// Every argument is optional. Unknown arguments, and expressions with variables or
// functions, are errors. The file may also have a "settings" block and "mirror" blocks,
// which package settings reads.
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
// A source is compared as HOST/PATH, for all transports. A module of a registry is
// HOST/NAMESPACE/NAME/SYSTEM, git::ssh://git@github.com/acme/net.git is
// github.com/acme/net, and a package on this machine is its absolute path. Users, queries,
// subdirectories and a final ".git" are ignored. A pattern matches everything at and below
// it. Its host is a name, an address, "*.NAME" for all names below a name, or "*". In its
// path, "*" matches any text within one element.
//
// Hosts are compared in one form, in whatever spelling patterns and addresses have them: lower
// case, ASCII, without a final dot, and with numbers such as "127.1" as the addresses that
// they are read as. Names are not resolved.
//
// If allow_sources is set, all other sources are denied. deny_sources takes precedence, and
// ignores case and port. A host in allow_sources without a port means the usual port of the
// transport.
//
// Every location of a module must be allowed: the source of the call, the location that a
// registry or a page points to, submodules, and the addresses in the lock. Redirects, and
// other URLs in a server's answer, must not be denied by deny_sources, but need not be in
// allow_sources; see [Policy.CheckURL]. The project's own modules ("./app") are not subject to
// the policy, but their calls are.
//
// # Other rules
//
// branches = "deny" refuses git sources that name a branch, or no ref, which means the
// default branch. It also refuses hg sources that name no revision.
//
// commits = "reachable" refuses git sources that name a commit, unless a branch or a tag of the
// repository has the commit in its history. Forges also serve the commits of forks and pull
// requests. It applies to calls in packages too, but not to commits that a registry names.
//
// versions applies to the calls in the project's own modules, because other calls cannot be
// changed there. "range" requires a version constraint, a tag, a commit or a digest.
// "exact" also requires that a constraint names one version. Archives have no versions and
// are allowed.
//
// credentials = "deny" refuses source addresses that contain passwords or tokens.
//
// min_age_days excludes younger versions from selection if the origin lists their age, as
// OpenTofu's registry does. Dates of commits are not used, because the author of a commit
// sets them.
//
// # Providers
//
// allow_providers and deny_providers are lists of patterns for the addresses of providers,
// HOST/NAMESPACE/TYPE. They follow the rules of allow_sources and deny_sources. Examples
// are "registry.opentofu.org/hashicorp" and "*.corp.example". A pattern of deny_providers
// without a path also denies requests to its hosts; see [Policy.CheckProviderURL].
// min_age_days does not apply, because registries do not list the age of providers.
//
// weak_provider_signatures = "allow" accepts signatures of packages with keys and digests
// that are no longer secure: RSA keys of less than 2,048 bits, DSA keys and SHA-1. Without
// it, or with "deny", they are refused. "allow" is ignored in the cotter.hcl of a
// repository; see [Policy.OfRepository].
//
// project_providers = "deny" refuses packages of providers that the project itself brings, in
// terraform.d/plugins or in another mirror below its directory.
//
// # What it does not do
//
// The package sends no requests and does not read the lock. Package cotter calls it before
// anything is fetched, and before each redirect is followed. It searches histories for commits
// itself, and calls [Policy.CheckCommit] with the result. Package getproviders checks signatures.
package policy
