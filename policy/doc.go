// Package policy reads the file cotter.hcl of a project and the user's own settings, and checks
// module calls and providers against the rules of an organization.
//
// # The file
//
// The file cotter.hcl is next to the configuration or in a directory above it in the same
// repository. It can have four types of blocks, and each is read on its own:
//
//   - A "policy" block has the rules. They say where modules may come from, how they must be
//     pinned, and how old a release must be. [Parse] reads it.
//   - A "settings" block has options that apply to the runs of everyone who works on the project.
//     [ParseSettings] reads it.
//   - "mirror" blocks name repositories of OCI registries that have locked packages.
//     [ParseSettings] reads them too.
//   - "replace" blocks replace the sources of modules. [ParseReplacements] reads them.
//
// Every argument is optional. Unknown arguments, and expressions with variables or functions, are
// errors.
//
// # The policy
//
// A policy is usually in cotter.hcl. A user can name files with further policies; each is applied
// on its own, and all must allow what is done. So they make the project's policy stricter, unless
// a file has the argument policy_only, outside of its blocks: then the policy of the project does
// not apply. In the project's own file that is an error.
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
// Paths are compared by element, decoded. An address whose path servers could read in several ways
// is not accepted; see [addrs.Location]. An escaped slash is part of its element. deny_sources also
// matches the path in which it separates elements, and ignores spaces, a parameter (";") and ".git" at
// the end of an element. A bucket of Amazon S3 or Google Cloud Storage is one place under all
// addresses that these document: a pattern with one of them matches all.
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
// replace = "deny" refuses calls whose source the project replaces.
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
// # Settings
//
//	settings {
//	  for        = "tofu"
//	  lock_file  = "modules.lock.hcl"
//	  submodules = true
//	  layout     = "copy"
//	  test_directory = "checks"
//	  platforms  = ["linux_amd64", "darwin_arm64"]
//	  vendor     = "vendor/modules"
//	}
//
// These are the arguments:
//
//   - for is the stock tool whose conventions apply: "tofu", "terraform" or "auto".
//   - lock_file is the file in which modules are locked, as a path below each root module.
//     No path in the file may be in .git or the like, in any spelling.
//   - submodules says whether the submodules of git repositories are fetched.
//   - layout is "link" or "copy".
//   - test_directory is the directory of tests, below each root module, instead of "tests".
//   - platforms are the platforms whose provider hashes the lock must have, in addition to
//     the machine's own.
//   - vendor is the directory of the repository that contains the packages of modules,
//     relative to each root module. Installations use the packages from there and ask no
//     origin.
//
// # Mirrors
//
// Mirror blocks name repositories of OCI registries that have locked packages. The file can
// have several of them:
//
//	mirror "oci://registry.corp.example/modules" {
//	  mode = "write"
//	}
//
// mode is "read", the default, or "write". With "write", packages that were fetched from
// origins are pushed to the mirror.
//
// # Replacements
//
// A replace block gives all calls of a module another source, also those in packages:
//
//	replace "registry.opentofu.org/acme/vpc/aws" {
//	  source = "../vpc"
//	}
//
//	replace "github.com/acme/*" {
//	  source = "git::https://git.corp.example/acme/*.git"
//	}
//
// The label is HOST/PATH, for all transports, or HOST/PATH/* for all addresses below it; then the "*" in
// source stands for the rest of the path. The longest label decides. version is a constraint for
// source. Directories are relative to the directory of the file.
//
// # The user's settings
//
// The user's own file can have mirror blocks and the arguments below, but no settings
// block.
//
//	trust_mirrors = ["oci://registry.corp.example/*"]
//	plain_http    = ["registry.lab.example:5000"]
//	local_hosts   = ["git.corp.example:8443"]
//	s3_endpoints  = ["https://minio.corp.example", "http://localhost:9000"]
//
// plain_http lists OCI registries that are asked over http. local_hosts lists hosts that servers and
// packages may point to although they are on this machine; the default port is 443. s3_endpoints lists
// servers other than Amazon's that may get the user's AWS credentials. A project cannot set these. A mirror
// that is named only by a repository delivers packages, which are compared with
// the lock, but it confirms no entries. The mirrors in the user's own file confirm entries,
// and so do the mirrors in trust_mirrors if a repository names them. [Mirrors] describes the
// rules.
//
// # What it does not do
//
// The package finds no files, sends no requests and does not read the lock. Package cotter finds
// the files. It applies the policy before anything is fetched, and before each redirect is
// followed. It searches histories for commits itself, and calls [Policy.CheckCommit] with the
// result. Package getproviders checks signatures.
//
// The command applies the settings. A project cannot set the location
// of the user's cache. Package cliconfig returns the path of the user's own file.
package policy
