// Package localstate reads which providers the state of a project needs, if the state is a local file
// of version 4. Stock tools record in terraform.tfstate in the data directory which backend they have
// set up; arguments that were given by -backend-config are only there. The record counts if it has the
// arguments of the configuration, or the hash of the configuration's block. Otherwise, or with another
// backend, the needs are unknown: reading it would require credentials.
//
// The path of a state may point out of the project. Only regular files are read, and nothing in /proc
// or /sys. Messages contain nothing of a file that is outside of the root module's directory.
package localstate
