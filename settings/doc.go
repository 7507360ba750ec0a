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
// # Mirrors
//
// Mirror blocks, of which the file can have several, name repositories of OCI registries
// that have locked packages:
//
//	mirror "oci://registry.corp.example/modules" {
//	  mode      = "write"
//	  signed_by = ["keys/mirror.pub"]
//	}
//
// mode is "read", the default, or "write", which pushes what was fetched from origins.
// signed_by are files of public keys in PEM: only entries that one of them has signed
// count as confirmed. Relative names are those of files beside cotter.hcl.
//
// # The user's settings
//
// The user's own file has mirror blocks, which can name the private key that signs what
// is pushed (sign_key), and these arguments. It has no settings block.
//
//	trust_mirrors = ["oci://registry.corp.example/*"]
//	trust_keys    = ["mirror.pub"]
//
// A mirror that only a repository names delivers packages, which are compared with the
// lock, but confirms no entry of it. trust_mirrors are mirrors that do, if a repository
// names them, as those that the user's own file names do. trust_keys are the files of
// public keys whose signatures confirm an entry in whichever mirror. [Mirrors] has the
// rules.
//
// # Not done here
//
// A project cannot say where the user's cache is. Package cotter finds the project's file,
// package cliconfig says where that of the user is, and the command applies them: a flag
// overrides a setting. Keys are read by package mirror.
package settings
