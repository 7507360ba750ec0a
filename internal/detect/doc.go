// Package detect finds out from the user's files what is there: which directories are root modules,
// which root modules changed files affect, and which stock tool a project is for.
//
// # Root modules
//
// [Roots] finds the root modules in a directory tree, and [ChangedRoots] those that changed files
// affect. Both follow the local paths by which modules call other modules. The caller decides how a
// directory's configuration is read: see [ModuleReader].
//
// # Stock tools
//
// [Detect] says whether a project is for OpenTofu or for Terraform. The signs are the following. The
// first one that is found decides.
//
//  1. the hosts of the providers in the lock, and in .terraform.lock.hcl if that is another file
//  2. the hosts of the modules in the lock
//  3. files in the root module that only OpenTofu reads: *.tofu and *.tofu.json
//  4. the hosts in modules.json
//  5. the comment at the beginning of the lock: "tofu init" or "terraform init"
//  6. .opentofu-version, .terraform-version, and opentofu or terraform in .tool-versions, in the
//     nearest directory that has any of them, from the root module up to the root of the git
//     repository
//  7. a cloud block or a remote backend with the host app.terraform.io, which is the default
//  8. a required_version that no version of OpenTofu meets
//  9. [Project].Tools, if it has exactly one tool and one of the user's own modules calls a
//     registry module, or requires a provider, without a host
//
// If there are signs, but the tool that runs next is another one, that is a further sign, which does
// not decide. So is the only installed tool, if the hosts of the lock's providers decide.
//
// Without signs, the tool is a guess: the only installed one, to which packages may leave the host of
// a registry, or else OpenTofu.
//
// In 1, 2 and 4, OpenTofu's registry decides if both registries occur, and a module whose host
// the root module itself specifies is no sign. Symbolic links and irregular files are ignored.
// The caller decides what to do about guesses and contradicting signs.
package detect
