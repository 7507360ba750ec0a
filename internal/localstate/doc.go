// Package localstate reads which providers the state of a project needs, as far as the
// state is a file in the project.
//
// The state of the default workspace is terraform.tfstate in the root module's directory,
// that of another one terraform.tfstate.d/NAME/terraform.tfstate. Only states of version
// 4 are read, whose form the stock tools document: each resource has the address of its
// provider, such as provider["registry.opentofu.org/hashicorp/null"].west.
//
// If the configuration has a backend, or the project had one from which stock tools have
// not moved the state yet, it is not known what the state needs: reading it takes
// credentials.
package localstate
