// Package origins queries the origins of modules and fetches module packages into the user's
// cache. An origin is a module registry, a repository, or another server.
//
// The runs of one process share a [Client]. It requests each version listing, location, ref and
// package only once, even if several runs need it, and it remembers failures as well. An
// [Origins] is one run's access to a client: it adds the run's policies and its offline mode.
//
// A [Source] is what a caller asks about: a parsed source address with its repository and its
// version constraint, if it has one. A [Location] is where a package of the source can be
// fetched. Only the configuration or a registry's answer yields a Location, never a lock: a lock
// pins which revision the location must deliver.
//
// Errors describe the problem with the origin or the package. The caller adds the module call
// that they concern.
package origins
