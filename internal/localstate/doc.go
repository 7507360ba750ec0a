// Package localstate reads which providers the state of a project needs, if the state is a local
// file.
//
// # The file
//
// Without a backend block, and for a backend "local", the state of the default workspace is the
// backend's path, or else terraform.tfstate. The state of another workspace is
// NAME/terraform.tfstate in the backend's workspace_dir, or else in terraform.tfstate.d. Both are
// relative to the root module's directory.
//
// Stock tools record in terraform.tfstate in the data directory which backend they have set up.
// Arguments that were given by -backend-config are only there. The record counts if its arguments
// are those of the configuration, or if its hash is that of the configuration's block, which has
// then not changed since. Otherwise stock tools refuse to go on without -migrate-state or
// -reconfigure, and the needs of the state are unknown. They are also unknown if the state is in
// any other backend, because reading it requires credentials.
//
// Without a record, stock tools offer to copy an earlier state from the default place to that of
// the configuration. The needs are then those of the configuration's place, but not all needs are
// known.
//
// The path may point out of the project. Only regular files are read, of at most 1 GiB, and
// nothing in /proc or /sys. Messages contain nothing of a file that is outside of the root
// module's directory.
//
// # The format
//
// Only states of version 4 are read, whose format the stock tools document: each resource has the
// address of its provider, such as provider["registry.opentofu.org/hashicorp/null"].west.
//
// Terraform writes addresses of its own registry. OpenTofu replaces this registry by its own
// unless the configuration requires the provider in that very form; see [Needs.In].
package localstate
