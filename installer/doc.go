// Package installer installs the modules and the providers of an OpenTofu or Terraform
// configuration, records the selected versions in the dependency lock, and proves on
// every later run that the same bytes are in place:
//
//	in := installer.New(installer.Options{CacheDir: dir})
//	result, err := in.Install(ctx, installer.Project{Dir: "infra"}, installer.InstallOptions{})
//
// After that, a stock "tofu init" or "terraform init" finds every module in place and
// downloads none. A [Project] says where things are and whose rules hold; the options of
// a method say what one run may do.
//
// An entry of the lock that fits the configuration decides until it is updated. A call
// without one takes the version of another call of the same source, else what a stock
// tool has installed and still fits, else the newest version. The lock never decides
// where a package is fetched from: only the configuration and the registry do.
//
// Bytes may come from anywhere; what confirms them is in package evidence. A package
// without the hashes of its entry is refused in every mode. Content that has changed since
// it was locked is refused, even by an update, unless [Update] accepts it. What earlier runs
// have confirmed counts only if it is sealed with the user's key; see [Options].
//
// A run changes all of a project or nothing, also if it is killed. It configures no
// backend, asks for no values, and reads no environment variables. Results, events and
// reports have no credentials, unless [Project.KeepCredentials] is set, and marshal as JSON.
//
// A path consists of the names of calls from the root module; its String method returns the
// key in the lock and in modules.json. Lists are in the order of these keys, and those of
// providers in the order of the lock. Directories in results have forward slashes. A tree
// may be 100 calls deep and have 20,000 calls; a call's key may have 255 bytes.
package installer
