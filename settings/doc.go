// Package settings reads the settings of a project: what runs of all who work on it
// have in common, so that it need not stand in flags.
//
// # The file
//
// Settings are a "settings" block in the file cotter.hcl, next to the configuration or
// in a directory above it in the same repository. It can be the file that has the
// project's policy, see package policy. Every argument is optional. Unknown arguments,
// and expressions with variables or functions, are errors.
//
//	settings {
//	  for        = "tofu"
//	  lock_file  = "modules.lock.hcl"
//	  submodules = true
//	  layout     = "copy"
//	  platforms  = ["linux_amd64", "darwin_arm64"]
//	  vendor     = "vendor/modules"
//	}
//
// for is the stock tool whose conventions apply: "tofu", "terraform" or "auto".
// lock_file is where modules are locked, a path below each root module. submodules
// fetches the submodules of git repositories. layout is "link" or "copy". platforms are
// those that the lock has the hashes of providers for, beside the machine's own. vendor is
// the directory of the repository that has the packages of modules, relative to each root
// module: installations use them from there and ask no origin.
//
// # Not done here
//
// A project cannot say where the user's cache is. Package cotter finds the file, and
// its command applies it: a flag overrides a setting.
package settings
