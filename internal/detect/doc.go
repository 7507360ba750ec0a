// Package detect finds out which stock tool a project is for, OpenTofu or Terraform.
//
// These are the signs, in the order in which they decide:
//
//  1. the hosts of the providers in the lock, and in .terraform.lock.hcl if
//     that is another file
//  2. the hosts of the modules in the lock
//  3. files in the root module that only OpenTofu reads, *.tofu and
//     *.tofu.json
//  4. the hosts in modules.json
//  5. the comment at the beginning of the lock: "tofu init" or "terraform
//     init"
//  6. .opentofu-version, .terraform-version, and opentofu or terraform in
//     .tool-versions, in the nearest directory that has some, from the root
//     module's up to that of the git repository
//  7. a cloud block or a remote backend at app.terraform.io, which is also
//     the host of one that names none
//  8. a required_version that no version of OpenTofu meets
//  9. [Project].Tools, if it has one tool only and one of the user's own modules
//     calls a registry's module without a host
//
// In 1, 2 and 4 OpenTofu's registry decides if both occur, and a module whose host
// the root module writes itself is no sign. Symbolic links and irregular files are
// not looked at. What follows from no sign, or from signs that contradict each
// other, is for the caller to decide.
package detect
