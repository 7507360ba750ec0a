// Package settings reads the settings of a project: options that apply to the runs of
// everyone who works on it, so that they need not be passed as flags.
//
// # The file
//
// Settings are a "settings" block in the file cotter.hcl, next to the configuration or in a
// directory above it in the same repository. It can be the same file as the project's
// policy, see package policy. Every argument is optional. Unknown arguments, and
// expressions with variables or functions, are errors.
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
// These are the arguments:
//
//   - for is the stock tool whose conventions apply: "tofu", "terraform" or "auto".
//   - lock_file is the file in which modules are locked, as a path below each root module.
//     No path in the file may be in .git or the like, in any spelling.
//   - submodules says whether the submodules of git repositories are fetched.
//   - layout is "link" or "copy".
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
//	  mode      = "write"
//	  signed_by = ["keys/mirror.pub"]
//	}
//
// mode is "read", the default, or "write". With "write", packages that were fetched from
// origins are pushed to the mirror. signed_by lists files with public keys in PEM: only
// entries that are signed with one of these keys count as confirmed. Relative file names
// are relative to the directory of cotter.hcl.
//
// # The user's settings
//
// The user's own file can have mirror blocks and the arguments below, but no settings
// block. Its mirror blocks can name the private key that signs pushed entries (sign_key).
//
//	trust_mirrors = ["oci://registry.corp.example/*"]
//	trust_keys    = ["mirror.pub"]
//
// A mirror that is named only by a repository delivers packages, which are compared with
// the lock, but it confirms no entries. The mirrors in the user's own file confirm entries,
// and so do the mirrors in trust_mirrors if a repository names them. trust_keys lists files
// with public keys whose signatures confirm an entry in any mirror. [Mirrors] describes the
// rules.
//
// # What it does not do
//
// A project cannot set the location of the user's cache. Package cotter finds the project's
// file, and package cliconfig returns the path of the user's file. The command applies the
// settings: a flag overrides a setting. Package mirror reads the keys.
package settings
