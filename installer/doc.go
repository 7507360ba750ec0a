// Package installer installs the modules and the providers of an OpenTofu or Terraform
// configuration, records the selected versions in the dependency lock, and proves on
// every later run that the same bytes are in place.
//
// It reads the module calls of a root module and of every module below it, resolves
// each source address and version constraint, fetches every package once, and puts a
// copy for each call where stock tools look for it:
//
//	in := installer.Installer{CacheDir: dir}
//	result, err := in.Install(ctx, installer.Request{Dir: "infra"})
//
// After that, a stock "tofu init" or "terraform init" finds every module in place and
// downloads none. With [Request].Providers the same run installs the providers, or
// only them.
//
// # The lock
//
// The selected versions are recorded in .terraform.lock.hcl, in the file where stock
// tools lock providers: one module block for each call of a module outside the project.
// Its label is the call's path. It has the version, the source address, the constraint,
// the immutable address of the package, and the package's hashes. Package lockfile
// describes the format.
//
// If the entry of a call fits the configuration, every later run installs what the entry
// says until the call is updated. A package without the hashes of its entry is refused
// in every mode. The lock never decides where a package is fetched from: only the
// configuration and the registry do.
//
// An installed or cached package is used without a request to its origin only if an
// origin has confirmed the entry before, in the last run in the project or in another
// run with the same cache. Such confirmations count only if they are sealed with the
// user's key (see [Installer].StateDir), because a repository or a restored CI cache may
// contain anything. For every other entry the origin is asked whether the source, at
// that version, points to that directory of that package. A run that may not change the
// lock also asks, once, whether a version tag still points to the locked commit or
// digest. Other runs stay at the locked revision even if the tag has moved or is gone.
// [Installer].TrustInstalled believes what is installed instead, as stock tools do.
//
// A call without an entry takes the version or commit that the lock has for another call
// of the same source, so that a renamed call is not upgraded. Without such an entry it
// takes what a stock tool has installed for it, if that is known and still fits, and else
// the newest version that its constraint allows. Policies and confirmations apply as to
// every new entry. If the lock file was deleted, versions are selected anew.
//
// Stock tools drop module blocks when they rewrite the lock. Cotter keeps a copy of the
// lock, and the next run restores the lost blocks from it, checks their tags, and warns.
// A run that may not change the lock fails instead. If a version, a version tag or an
// archive has changed its content since it was locked, it is refused, even by an update,
// unless the request names the call.
//
// [Request] can also name another file for the lock, have the lock as bytes, or do without
// one. Without a lock, nothing is known of earlier content, so no change of it is refused.
//
// # Providers
//
// All modules of a tree share one version of a provider. A module requires a provider by
// its required_providers block, by a provider block, or by a resource whose type implies
// the provider. The locked version is kept as long as it meets all constraints. For
// other providers, the newest version is selected that meets all constraints and that
// [getproviders.Source] offers: in registries, in mirrors, or in both. A conflict names
// every place with its constraint.
//
// Providers that only the state needs are installed too, as stock tools do, if the state
// is a local file, also one of a backend "local". If no module requires a locked provider,
// its entry is dropped when the project has such a state file, or has no state at all. If
// it is not known what the state needs, for example because a remote backend keeps it, the
// entry is kept and the provider installed, unless [Providers].Prune is set.
//
// A provider's package must be authenticated by its source, by a signature or as package
// getproviders describes, and must have a hash that the lock has for this version. It is
// unpacked once into the user's store, and linked or copied from there to where stock
// tools look for it. Provider blocks in the lock are written as the stock tool of the
// project's dialect writes them; hashes of further platforms are added on request.
//
// # What a run does
//
// A run takes the modules directory for its process. It walks the tree breadth-first,
// all calls of a depth at once. Packages are fetched into the cache, hashed from disk,
// compared with the lock, copied to a staging directory and hashed again. A call gets a
// private copy of its directory of the package, and of the local modules that it calls;
// the rest of the package is in the project once, and relative links point to it.
//
// When the whole tree is staged, the directories are moved to their places, then the
// lock is written, then modules.json, which is removed for the time between. After an
// error nothing has changed. After a crash or a power cut the next run undoes what was
// begun. The lock, its copy, and every other file that is read must be a regular file of
// limited size.
//
// # Expressions
//
// In the dialect of tofu, sources and versions may be expressions. They may refer to
// what is known before installation: input variables, whose values come from the request
// ([config.Inputs].Variables) or from the calling module, local values, paths, the workspace,
// and functions of these. Sensitive values are refused and never shown. The lock has the
// result for the values of the last run: other values may change it.
//
// The value of a source is sent to the server that it names. So functions that read files
// can read only those of the git repository that the root module is in, and never those
// below .git ([config.FileReadError]). [config.Inputs].AllowFileReads allows all files.
//
// # What it does not do
//
// It runs no plan, changes no configuration, and configures no backend. It does not ask
// for the values of variables. It reads no environment variables. It writes no log unless
// [Installer].Logger is set: callers get events.
//
// # JSON and logs
//
// Results, events and reports have no credentials, unless Request.KeepCredentials is set,
// and can be logged and marshaled as JSON. A field of type error loses its text in JSON: a program
// that needs it calls the method Error.
//
// # Limits
//
// A module tree may be 100 calls deep and have 20,000 calls; a call's path may have 255
// bytes. The documentation of packages getmodules, lockfile, registryclient and disco
// names their limits.
package installer
