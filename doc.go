// Package cotter installs the modules and the providers of an OpenTofu or Terraform
// configuration, records what it chose in the dependency lock, and proves on
// every later run that the same bytes are in place.
//
// It reads the module calls of a root module and of every module below it,
// resolves each source address and version constraint, fetches every package
// once, and puts a copy of it for each call where stock tools look for it:
//
//	in := cotter.Installer{CacheDir: dir}
//	result, err := in.Install(ctx, cotter.Request{Dir: "infra"})
//
// After that a stock "tofu init" or "terraform init" finds every module in
// place and downloads none. With [Request].Providers the run does the same for the
// providers, and [Installer.InstallProviders] for them alone.
//
// # The lock
//
// What was chosen stands in .terraform.lock.hcl, beside the providers that
// stock tools lock there: a module block for each call of a module outside the
// project, labelled with the call's path, with the version, the source address,
// the constraint, the immutable address of the package and its hashes. Package
// lockfile has the format. A call whose entry fits the configuration gets what
// the entry says, in every later run, until it is upgraded; bytes that do not
// have the hashes of the entry are refused in every mode. The lock pins and
// never points: packages are fetched from where the configuration and the
// registry say, never from where the lock says.
//
// What is installed or in the cache is used without asking its origin only for
// entries that an origin has confirmed before: for the last run in the project,
// or for one that shares the cache. Both count only with a code under the user's
// key, see Installer.StateDir: a repository or a restored cache can hold anything. For any other entry the origin is asked
// whether the source, at that version, points to that directory of that package.
// A run that may not change the lock also asks, once, whether tags that are
// versions lead to the locked commit or digest; other runs keep to that,
// whatever became of the tag.
//
// Stock tools drop module blocks when they rewrite the lock. A run puts back what
// the lock has lost from a copy that the last one kept, asks whether tags still
// mean what was locked, and says so; one that may not change the lock fails
// instead. A version, a version tag or an archive that has other content than the
// lock is refused, also by an upgrade, unless the request names the call.
//
// # Providers
//
// A provider is required by all modules of the tree together: by their
// required_providers blocks, by provider blocks, and by resources whose types imply
// one. The constraints of all of them are pooled. The locked version stays as long as
// they allow it; for other providers the newest one is selected that they allow, where
// [getproviders.Source] has them: in registries, mirrors, or both. A conflict names
// each place with its constraint.
//
// What the state needs is installed too, as by stock tools, if the state is a file in
// the project. An entry of the lock that nothing requires is dropped if such a state, or
// none at all, is there; if a backend keeps the state, it stays and is installed, unless
// [Providers].Prune is set.
//
// A package counts only if its source proves it, by a signature or as package
// getproviders says, and if the lock's hashes of the version fit. It is unpacked
// once into the user's store and linked, or copied, to where stock tools look for it.
// The provider blocks of the lock are those that the stock tool of the dialect would
// write; hashes of further platforms are added on request.
//
// # What a run does
//
// The modules directory is taken for this process. The tree is walked
// breadth-first, all calls of a depth at once. Packages are fetched into the
// cache, hashed from disk, compared with the lock, copied to a stage and hashed
// again. A call of a package's directory gets a private copy of it and of the
// local modules that it calls; the rest of the package is in the project once,
// reached by relative links. Only when the whole tree is staged do the directories move to their
// places, then the lock is written, then modules.json, which is away in the
// meantime. After an error nothing has changed; after a crash or a power cut the
// next run undoes what was begun. The lock file, the copy and all else that is read
// must be regular files of a bounded size.
//
// # Expressions
//
// In the dialect of tofu, sources and versions may be expressions of what is
// known before anything is installed: input variables, which a request gives
// values ([Request].Variables) and a caller gives the modules that it calls,
// local values, paths, the workspace, and functions of them. Sensitive values
// are refused and never shown. A run of the same configuration with other values
// is another configuration, so the lock follows.
//
// # What it does not do
//
// It runs no plan, changes no configuration, and configures no backend. It does
// not ask for the values of variables. It reads no environment and logs
// nothing: what happens is told by events.
//
// # Limits
//
// A module tree may be 100 calls deep and have 20,000 calls; a call's path may
// be 255 bytes long. Packages getmodules, lockfile, registryclient and disco
// name theirs.
package cotter
