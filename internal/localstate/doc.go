// Package localstate reads which providers the state of a project needs, if the state is a file
// in the project.
//
// The state of the default workspace is terraform.tfstate in the root module's directory. The
// state of another workspace is terraform.tfstate.d/NAME/terraform.tfstate. Only states of
// version 4 are read, whose format the stock tools document: each resource has the address of its
// provider, such as provider["registry.opentofu.org/hashicorp/null"].west.
//
// If the configuration has a backend, or the project had one from which stock tools have not yet
// moved the state, the needs of the state are unknown, because reading it requires credentials.
package localstate
