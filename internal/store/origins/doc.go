// Package origins queries the origins of modules (registries, repositories and other servers) and
// fetches module packages into the user's cache. The runs of one process share a [Client], which asks
// each question once and remembers failures too. An [Origins] adds a run's policies and offline mode.
//
// A [callsource.Source] is what a caller asks about, and a [Location] where a package of it can be fetched. Only
// the configuration or a registry's answer yields a Location, never a lock: a lock pins which revision
// the location must deliver.
package origins
